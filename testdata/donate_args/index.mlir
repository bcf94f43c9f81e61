// RUN: hlopass rewrite %s --donate %S/index.json | filecheck %s
// An index means an argument, whatever the arguments are called.

// CHECK: func.func @main(%arg0: tensor<4xf32>, %arg1: tensor<4xf32> {tf.aliasing_output = 0 : i32})
// CHECK-NEXT: stablehlo.add %arg0, %arg1
func.func @main(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.add %arg0, %arg1 : tensor<4xf32>
  return %0 : tensor<4xf32>
}
