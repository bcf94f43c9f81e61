// RUN: hlopass rewrite %s --donate %S/no_arguments.json

func.func @main() -> tensor<f32> {
  %0 = stablehlo.constant dense<0.0> : tensor<f32>
  return %0 : tensor<f32>
}
