// RUN: hlopass rewrite %s --check
// RUN: hlopass rewrite %s | filecheck %s
// Well-formed donations of a frontend pass without a word: one alias, one donor.

// CHECK: func.func @main(%arg0: tensor<4xf32> {tf.aliasing_output = 1 : i32}, %arg1: tensor<9xf32> {jax.buffer_donor = true})
func.func @main(%arg0: tensor<4xf32> {tf.aliasing_output = 1 : i32}, %arg1: tensor<9xf32> {jax.buffer_donor = true}) -> (tensor<f32>, tensor<4xf32>) {
  %0 = stablehlo.constant dense<0.0> : tensor<f32>
  return %0, %arg0 : tensor<f32>, tensor<4xf32>
}
