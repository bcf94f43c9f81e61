// RUN: hlopass rewrite %s --donate %S/index_out_of_range.json

func.func @main(%w: tensor<4xf32>, %m: tensor<4xf32>) -> tensor<4xf32> {
  return %w : tensor<4xf32>
}
