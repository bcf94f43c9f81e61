// RUN: hlopass rewrite %s --check
// An axis on two dimensions.

module {
  sdy.mesh @mesh = <["x"=4, "y"=2]>
  func.func @main(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"x"}]>} loc("a")) -> tensor<8x8xf32> {
    return %a : tensor<8x8xf32>
  }
}
