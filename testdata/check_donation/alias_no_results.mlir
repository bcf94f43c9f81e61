// RUN: hlopass rewrite %s

func.func @main(%w: tensor<4xf32> {tf.aliasing_output = 0 : i32}) {
  return
}
