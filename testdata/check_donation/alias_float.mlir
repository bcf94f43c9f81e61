// RUN: hlopass rewrite %s

func.func @main(%w: tensor<4xf32> {tf.aliasing_output = 0.0 : f32}, %m: tensor<4xf32> {tf.aliasing_output = true}) -> tensor<4xf32> {
  return %w : tensor<4xf32>
}
