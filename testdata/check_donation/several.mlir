// RUN: hlopass rewrite %s
// All mistakes are found at once, and warnings stand among the errors.

module attributes {mhlo.buffer_donor = []} {
  func.func @main(%a: tensor<4xf32> {tf.aliasing_output = "0"}, %b: tensor<4xf32> {tf.aliasing_output = 5 : i32}, %c: tensor<2xf32> {tf.aliasing_output = 0 : i32}, %d: tensor<4xf32> {jax.buffer_donor = false}) -> tensor<4xf32> {
    return %a : tensor<4xf32>
  }
  func.func private @helper(%x: tensor<4xf32> {tf.aliasing_output = 0 : i32}) -> tensor<4xf32> {
    return %x : tensor<4xf32>
  }
}
