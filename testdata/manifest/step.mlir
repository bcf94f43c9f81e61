// The program that the manifests of this folder are for.
module @step {
  func.func public @main(%w: tensor<4xf32>, %m: tensor<4xf32>, %scratch: tensor<8xf32>, %lr: tensor<f32>) -> (tensor<4xf32> {jax.result_info = "new_w"}, tensor<4xf32> {jax.result_info = "new_m"}) {
    %0 = stablehlo.add %w, %w : tensor<4xf32>
    %1 = stablehlo.multiply %m, %m : tensor<4xf32>
    return %0, %1 : tensor<4xf32>, tensor<4xf32>
  }
}
