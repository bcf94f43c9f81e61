// RUN: hlopass rewrite %s
// Attributes of arguments need a dialect's prefix; MLIR says so.

func.func @main(%w: tensor<4xf32> {aliasing_output = 0 : i32}) -> tensor<4xf32> {
  return %w : tensor<4xf32>
}
