// RUN: hlopass rewrite %s --donate %S/two_to_one.json

func.func @main(%w: tensor<4xf32>, %m: tensor<4xf32>) -> (tensor<4xf32> {jax.result_info = "out"}, tensor<4xf32>) {
  return %w, %m : tensor<4xf32>, tensor<4xf32>
}
