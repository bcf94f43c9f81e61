// RUN: hlopass rewrite %s

func.func @main(%w: tensor<4xf32> {tf.aliasing_output = 9 : i32}, %m: tensor<4xf32> {tf.aliasing_output = 2 : i32}) -> (tensor<4xf32>, tensor<4xf32>) {
  return %w, %m : tensor<4xf32>, tensor<4xf32>
}
