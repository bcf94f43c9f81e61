// RUN: hlopass rewrite %s

func.func @main(%t: !stablehlo.token {jax.buffer_donor = true}, %p: tuple<tensor<4xf32>> {jax.buffer_donor = true}) -> !stablehlo.token {
  return %t : !stablehlo.token
}
