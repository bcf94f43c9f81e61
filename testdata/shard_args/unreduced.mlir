// RUN: hlopass rewrite %s --shard %S/unreduced.yaml
// RUN: hlopass rewrite %s --pipeline strip-sharding
// Devices that hold parts of a sum do not hold what is asked for.
module {
  sdy.mesh @mesh = <["a"=4, "b"=2]>
  func.func public @main(%w: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}], unreduced={"b"}>}) -> tensor<8x16xf32> {
    return %w : tensor<8x16xf32>
  }
}
