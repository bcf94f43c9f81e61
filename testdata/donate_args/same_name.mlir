// RUN: hlopass rewrite %s --donate %S/same_name.json
// A name that two arguments, or two results, have means neither.

func.func @main(%arg0: tensor<4xf32> loc("w"), %arg1: tensor<4xf32> loc("w")) -> (tensor<4xf32> {jax.result_info = "out"}, tensor<4xf32> {jax.result_info = "out"}) {
  return %arg0, %arg1 : tensor<4xf32>, tensor<4xf32>
}
