// RUN: hlopass rewrite %s --donate %S/result_for_many.json
// One result belongs to one argument, and the other way round.

func.func @main(%w1: tensor<4xf32>, %w2: tensor<4xf32>) -> (tensor<4xf32> {jax.result_info = "out1"}, tensor<4xf32> {jax.result_info = "out2"}) {
  return %w1, %w2 : tensor<4xf32>, tensor<4xf32>
}
