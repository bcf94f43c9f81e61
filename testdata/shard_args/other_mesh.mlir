// RUN: hlopass rewrite %s --shard %S/other_mesh.yaml
// RUN: hlopass rewrite %s --shard %S/other_mesh.yaml --existing replace
// A mesh of other sizes is in use by what the spec does not replace.

module {
  sdy.mesh @devices = <["x"=8]>
  func.func @main(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@devices, [{"x"}, {}]>} loc("a"), %b: tensor<8x8xf32> loc("b")) -> tensor<8x8xf32> {
    %0 = sdy.sharding_constraint %b <@devices, [{}, {"x"}]> : tensor<8x8xf32>
    return %0 : tensor<8x8xf32>
  }
}
