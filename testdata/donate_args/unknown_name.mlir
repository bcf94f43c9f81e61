// RUN: hlopass rewrite %s --donate %S/unknown_name.json
// A name, a regular expression and a glob that mean nothing, each with what is near.

module {
  func.func @main(%arg0: tensor<4xf32> loc("state['w']"), %arg1: tensor<4xf32> loc("weight"), %arg2: tensor<f32> loc("lr")) -> (tensor<4xf32>, tensor<f32> {jax.result_info = "loss"}) {
    return %arg0, %arg2 : tensor<4xf32>, tensor<f32>
  }
}
