// RUN: hlopass rewrite %s --check
// An axis that the mesh has not.

module {
  sdy.mesh @mesh = <["x"=4, "y"=2]>
  func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"z"}]>} loc("a")) -> tensor<8xf32> {
    return %a : tensor<8xf32>
  }
}
