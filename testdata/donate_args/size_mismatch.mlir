// RUN: hlopass rewrite %s --donate %S/size_mismatch.json

func.func @main(%w: tensor<4xf32>, %g: tensor<4xf32>) -> (tensor<4xf32>, tensor<f32> {jax.result_info = "loss"}) {
  %0 = stablehlo.subtract %w, %g : tensor<4xf32>
  %1 = stablehlo.constant dense<0.0> : tensor<f32>
  return %0, %1 : tensor<4xf32>, tensor<f32>
}
