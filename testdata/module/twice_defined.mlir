// RUN: hlopass rewrite %s

func.func @main(%w: tensor<4xf32>) -> tensor<4xf32> {
  return %w : tensor<4xf32>
}
func.func @main(%w: tensor<4xf32>) -> tensor<4xf32> {
  return %w : tensor<4xf32>
}
