// RUN: hlopass rewrite %s --shard %S/existing.yaml -o %t/out.mlir
// RUN: hlopass rewrite %s --shard %S/existing.yaml --existing keep
// RUN: hlopass rewrite %s --shard %S/existing.yaml --existing replace
// Equal is left alone, replicated is overwritten, and of what differs the user decides.

module {
  sdy.mesh @devices = <["x"=4, "y"=2]>
  func.func @main(%same: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@devices, [{"x"}, {}]>} loc("same"),
                  %replicated: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@devices, [{}, {}]>} loc("replicated"),
                  %other: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@devices, [{}, {"y"}]>} loc("other")) -> tensor<8x8xf32> {
    return %same : tensor<8x8xf32>
  }
}
