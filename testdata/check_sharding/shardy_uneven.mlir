// RUN: hlopass rewrite %s --check
// Shardy would split it over two devices, in silence.

module {
  sdy.mesh @mesh = <["x"=4, "y"=2]>
  func.func @main(%a: tensor<6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>} loc("a")) -> tensor<6xf32> {
    return %a : tensor<6xf32>
  }
}
