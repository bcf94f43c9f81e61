// RUN: hlopass rewrite %s --donate %S/too_few_results.json
// Three arguments of a size, two results: one is left over.

func.func @main(%a: tensor<4xf32>, %b: tensor<4xf32>, %c: tensor<4xf32>) -> (tensor<4xf32> {jax.result_info = "x"}, tensor<4xf32> {jax.result_info = "y"}) {
  return %a, %b : tensor<4xf32>, tensor<4xf32>
}
