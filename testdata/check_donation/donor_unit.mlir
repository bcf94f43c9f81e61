// RUN: hlopass rewrite %s

func.func @main(%w: tensor<4xf32> {jax.buffer_donor}, %m: tensor<4xf32> {jax.buffer_donor = 1 : i32}, %s: tensor<4xf32> {jax.buffer_donor = "true"}) -> tensor<4xf32> {
  return %w : tensor<4xf32>
}
