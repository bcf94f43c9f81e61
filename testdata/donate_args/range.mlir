// RUN: hlopass rewrite %s --donate %S/range.json | filecheck %s
// A range is half-open, as in Python.

// CHECK: func.func @main(%arg0: tensor<2xf32>, %arg1: tensor<2xf32> {tf.aliasing_output = 1 : i32}, %arg2: tensor<2xf32> {tf.aliasing_output = 2 : i32}, %arg3: tensor<2xf32>)
func.func @main(%arg0: tensor<2xf32>, %arg1: tensor<2xf32>, %arg2: tensor<2xf32>, %arg3: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
  return %arg0, %arg1, %arg2, %arg3 : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}
