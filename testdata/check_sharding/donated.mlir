// RUN: hlopass rewrite %s --check
// A donated pair whose shards are of other sizes: XLA's answer is an internal error.

module {
  sdy.mesh @mesh = <["x"=4, "y"=2]>
  func.func @main(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>, tf.aliasing_output = 0 : i32} loc("a"))
      -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) {
    return %a : tensor<8x8xf32>
  }
}
