// RUN: hlopass rewrite %s --donate %S/numeric_name.json | filecheck %s
// The exact name "1" beats the index 1.

// CHECK: func.func @main(%arg0: tensor<4xf32> {tf.aliasing_output = 0 : i32} loc("1"), %arg1: tensor<4xf32> loc("0"))
func.func @main(%arg0: tensor<4xf32> loc("1"), %arg1: tensor<4xf32> loc("0")) -> tensor<4xf32> {
  %0 = stablehlo.add %arg0, %arg1 : tensor<4xf32>
  return %0 : tensor<4xf32>
}
