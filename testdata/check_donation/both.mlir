// RUN: hlopass rewrite %s

func.func @main(%w: tensor<4xf32> {jax.buffer_donor = true, tf.aliasing_output = 0 : i32}) -> tensor<4xf32> {
  return %w : tensor<4xf32>
}
