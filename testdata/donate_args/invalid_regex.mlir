// RUN: hlopass rewrite %s --donate %S/invalid_regex.json

func.func @main(%w: tensor<4xf32>) -> tensor<4xf32> {
  return %w : tensor<4xf32>
}
