// RUN: hlopass rewrite %s --donate %S/obstacles.json
// What has no single buffer of a known size cannot be donated.

func.func @main(%token: !stablehlo.token, %pair: tuple<tensor<4xf32>, tensor<4xf32>>, %ragged: tensor<?x4xf32>, %quantized: tensor<4x!quant.uniform<i8:f32, 0.5>>, %shape: tensor<*xf32>, %const: tensor<4xf32> {jax.global_constant = "table"}, %w: tensor<4xf32>) -> (tensor<4xf32>, tensor<?xf32>) {
  %0 = "vendor.unknown_length"() : () -> tensor<?xf32>
  return %w, %0 : tensor<4xf32>, tensor<?xf32>
}
