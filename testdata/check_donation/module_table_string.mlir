// RUN: hlopass rewrite %s

module attributes {mhlo.input_output_alias = "0 to 0"} {
  func.func @main(%w: tensor<4xf32>) -> tensor<4xf32> {
    return %w : tensor<4xf32>
  }
}
