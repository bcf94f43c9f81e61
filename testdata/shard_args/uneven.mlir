// RUN: hlopass rewrite %s --shard %S/uneven.yaml | filecheck %s
// What does not divide is accepted where the spec says so.

// CHECK: tensor<6x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}
func.func @main(%w: tensor<16x16xf32> loc("w"), %batch: tensor<6x16xf32> loc("batch")) -> tensor<16x16xf32> {
  return %w : tensor<16x16xf32>
}
