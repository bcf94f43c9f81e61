// RUN: hlopass rewrite %s -o %t/out.mlir
// An axis whose name MLIR escapes, which XLA cannot read back, and an operation's sharding, which it drops.
module {
  sdy.mesh @mesh = <["a\\b"=2]>
  func.func public @main(%w: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a\\b"}, {}]>}) -> tensor<8x16xf32> {
    %0 = stablehlo.tanh %w {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"a\\b"}]>]>} : tensor<8x16xf32>
    return %0 : tensor<8x16xf32>
  }
}
