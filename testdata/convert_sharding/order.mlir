// RUN: hlopass rewrite %s --pipeline "convert-sharding{to=shardy}" | filecheck %s
// Devices in an order that no axes count: the mesh lists them.

// CHECK: sdy.mesh @mesh = <["axis_0"=2, "axis_1"=2], device_ids=[0, 1, 3, 2]>
// CHECK: {sdy.sharding = #sdy.sharding<@mesh, [{"axis_0", "axis_1"}, {}]>}
// CHECK-SAME: {sdy.sharding = #sdy.sharding<@mesh, [{}, {"axis_0"}]>}
func.func @main(%a: tensor<8x8xf32> {mhlo.sharding = "{devices=[4,1]0,1,3,2}"}, %b: tensor<8x8xf32> {mhlo.sharding = "{devices=[1,2,2]<=[4] last_tile_dim_replicate}"}) -> tensor<8x8xf32> {
  return %a : tensor<8x8xf32>
}
