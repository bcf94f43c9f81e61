// RUN: hlopass rewrite %s

func.func @main(%w: tensor<4xf32> {tf.aliasing_output = 0 : i32}) -> (tensor<4xbf16> {jax.result_info = "half"}) {
  %0 = stablehlo.convert %w : (tensor<4xf32>) -> tensor<4xbf16>
  return %0 : tensor<4xbf16>
}
