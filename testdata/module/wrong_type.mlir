// RUN: hlopass rewrite %s

func.func @main(%w: tensor<4xf32>) -> tensor<8xf32> {
  %0 = "stablehlo.add"(%w, %w) : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
