module @sgd {
  func.func public @main(%w: tensor<1024x1024xf32>, %m: tensor<1024x1024xf32>, %g: tensor<1024x1024xf32>)
      -> (tensor<f32> {jax.result_info = "loss"},
          tensor<1024x1024xf32> {jax.result_info = "new_m"},
          tensor<1024x1024xf32> {jax.result_info = "new_w"}) {
    %decay = stablehlo.constant dense<0.9> : tensor<1024x1024xf32>
    %rate = stablehlo.constant dense<0.01> : tensor<1024x1024xf32>
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %0 = stablehlo.multiply %m, %decay : tensor<1024x1024xf32>
    %1 = stablehlo.add %0, %g : tensor<1024x1024xf32>
    %2 = stablehlo.multiply %1, %rate : tensor<1024x1024xf32>
    %3 = stablehlo.subtract %w, %2 : tensor<1024x1024xf32>
    %4 = stablehlo.reduce(%g init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<1024x1024xf32>, tensor<f32>) -> tensor<f32>
    return %4, %1, %3 : tensor<f32>, tensor<1024x1024xf32>, tensor<1024x1024xf32>
  }
}
