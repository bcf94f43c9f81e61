// RUN: hlopass rewrite %s --donate %S/w.json --check

func.func @main(%w: tensor<4xf32> {tf.aliasing_output = 0 : i32}) -> tensor<4xf32> {
  return %w : tensor<4xf32>
}
