// RUN: hlopass rewrite %s --pipeline alias-by-name --check
// Two results that both look like an argument's next value are none.

func.func @main(%w: tensor<4xf32>) -> (tensor<4xf32> {jax.result_info = "new_w"}, tensor<4xf32> {jax.result_info = "updated_w"}) {
  %0 = stablehlo.add %w, %w : tensor<4xf32>
  return %0, %w : tensor<4xf32>, tensor<4xf32>
}
