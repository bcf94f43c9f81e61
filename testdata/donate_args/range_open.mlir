// RUN: hlopass rewrite %s --donate %S/range_open.json | filecheck %s
// A range without a start or an end reaches to the first or the last argument.

// CHECK: func.func @main(%arg0: tensor<2xf32> {tf.aliasing_output = 2 : i32}, %arg1: tensor<2xf32>, %arg2: tensor<2xf32>, %arg3: tensor<2xf32> {tf.aliasing_output = 1 : i32}, %arg4: tensor<2xf32> {tf.aliasing_output = 0 : i32})
func.func @main(%arg0: tensor<2xf32>, %arg1: tensor<2xf32>, %arg2: tensor<2xf32>, %arg3: tensor<2xf32>, %arg4: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
  return %arg4, %arg3, %arg0 : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}
