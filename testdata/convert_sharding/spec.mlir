// RUN: hlopass rewrite %s --shard %S/spec.yaml --pipeline "convert-sharding{to=shardy},shard-args" | filecheck %s
// The mesh of a spec is taken where its axes say all tilings.

// CHECK: sdy.mesh @mesh = <["data"=4, "model"=2]>
// CHECK: %{{\w+}}: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data":(1)2}, {}]>} loc("a"
// CHECK-SAME: %{{\w+}}: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>} loc("b"
func.func @main(%a: tensor<8x8xf32> {mhlo.sharding = "{devices=[2,1,4]<=[8] last_tile_dim_replicate}"} loc("a"), %b: tensor<8x8xf32> loc("b")) -> tensor<8x8xf32> {
  return %a : tensor<8x8xf32>
}
