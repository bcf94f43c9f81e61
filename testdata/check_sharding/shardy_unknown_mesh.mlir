// RUN: hlopass rewrite %s --check
// Shardy's verifier runs when the module is read.

module {
  sdy.mesh @mesh = <["x"=4, "y"=2]>
  func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@other, [{"x"}]>} loc("a")) -> tensor<8xf32> {
    return %a : tensor<8xf32>
  }
}
