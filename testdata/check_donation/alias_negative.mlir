// RUN: hlopass rewrite %s

func.func @main(%w: tensor<4xf32> {tf.aliasing_output = -1 : i32}) -> tensor<4xf32> {
  return %w : tensor<4xf32>
}
