// RUN: hlopass rewrite %s --pipeline check-donation
// The pass by itself, as after another tool.

func.func @main(%w: tensor<4xf32> {tf.aliasing_output = 0 : i32}, %m: tensor<4xf32> {tf.aliasing_output = 0 : i32}) -> (tensor<4xf32> {jax.result_info = "w"}) {
  return %w : tensor<4xf32>
}
