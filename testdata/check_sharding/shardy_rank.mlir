// RUN: hlopass rewrite %s --check
// More dimensions than the tensor has.

module {
  sdy.mesh @mesh = <["x"=4, "y"=2]>
  func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>} loc("a")) -> tensor<8xf32> {
    return %a : tensor<8xf32>
  }
}
