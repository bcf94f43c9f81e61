// RUN: hlopass rewrite - --donate %S/first.json < %s

func.func @main(%arg0: tensor<4xf32>) -> tensor<f32> {
  %0 = stablehlo.constant dense<0.0> : tensor<f32>
  return %0 : tensor<f32>
}
