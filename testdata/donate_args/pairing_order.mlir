// RUN: hlopass rewrite %s --donate %S/pairing_order.json | filecheck %s
// Same type first, then same byte size: argument 0 leaves result 0 to argument 1, whose
// very type it has, and takes the i32 one.

// CHECK: func.func @main(%arg0: tensor<2x2xf32> {tf.aliasing_output = 1 : i32}, %arg1: tensor<4xf32> {tf.aliasing_output = 0 : i32})
func.func @main(%arg0: tensor<2x2xf32>, %arg1: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xi32>) {
  %0 = stablehlo.constant dense<0> : tensor<4xi32>
  return %arg1, %0 : tensor<4xf32>, tensor<4xi32>
}
