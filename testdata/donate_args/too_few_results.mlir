// RUN: hlopass rewrite %s --donate %S/too_few_results.json
// Three arguments of a size, two results: one is left over.

func.func @main(%a: tensor<4xf32>, %b: tensor<4xf32>, %c: tensor<4xf32>) -> (tensor<4xf32> {jax.result_info = "x"}, tensor<4xi32> {jax.result_info = "y"}) {
  %0 = stablehlo.constant dense<0> : tensor<4xi32>
  return %a, %0 : tensor<4xf32>, tensor<4xi32>
}
