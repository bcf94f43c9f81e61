// RUN: hlopass rewrite %s

func.func @main(%w: tensor<4xf32> {tf.aliasing_output = 0 : i32}) -> (tensor<4xf32> {mhlo.memory_kind = "pinned_host"}) {
  return %w : tensor<4xf32>
}
