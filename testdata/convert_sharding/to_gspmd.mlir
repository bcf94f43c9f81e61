// RUN: hlopass rewrite %s --pipeline "convert-sharding{to=gspmd}" | filecheck %s
// As JAX writes it for GSPMD: parts of axes, another order of devices, one device, private
// functions. Dimensions that a constraint leaves open are named; an open argument has nothing.

// CHECK: module attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
// CHECK-NEXT: func.func @main(
// CHECK-SAME: %{{\w+}}: tensor<8x8xf32> {jax.buffer_donor = true, mhlo.sharding = "{devices=[1,2,4]<=[4,2]T(1,0) last_tile_dim_replicate}"}
// CHECK-SAME: %{{\w+}}: tensor<8x8xf32> {mhlo.sharding = "{devices=[2,1,4]<=[8] last_tile_dim_replicate}"}
// CHECK-SAME: %{{\w+}}: tensor<8x8xf32>, %{{\w+}}: tensor<6x8xf32> {mhlo.sharding = "{devices=[2,1,4]<=[8] last_tile_dim_replicate}"})
// CHECK-SAME: -> (tensor<8x8xf32> {jax.result_info = "r", mhlo.sharding = "{devices=[8,1]<=[4,2]T(1,0)}"}) {
// CHECK-NEXT: stablehlo.custom_call @Sharding(%{{\w+}}) {backend_config = "", mhlo.sharding = "{devices=[4,2]<=[8]}"} : (tensor<8x8xf32>) -> tensor<8x8xf32>
// CHECK-NEXT: stablehlo.custom_call @Sharding(%{{\w+}}) {backend_config = "unspecified_dims=[1]", mhlo.sharding = "{devices=[4,1,2]<=[8] last_tile_dim_replicate}"}
// CHECK-NEXT: stablehlo.add {{.*}} {mhlo.sharding = "{replicated}"}
// CHECK-NEXT: stablehlo.custom_call @two(%{{\w+}}) {mhlo.sharding = "{{[{]}}{replicated}, {devices=[2,1,4]<=[4,2]T(1,0) last_tile_dim_replicate}{{[}]}}"}
// CHECK-NEXT: stablehlo.custom_call @one(%{{\w+}}) {has_side_effect = true, mhlo.sharding = "{maximal device=0}"}
// CHECK: func.func private @inner(%{{\w+}}: tensor<8x8xf32> {mhlo.sharding = "{devices=[8,1]7,6,5,4,3,2,1,0}"})
module {
  sdy.mesh @mesh = <["data"=4, "model"=2]>
  sdy.mesh @turned = <["z"=8], device_ids=[7, 6, 5, 4, 3, 2, 1, 0]>
  sdy.mesh @maximal_mesh_0 = <[], device_ids=[0]>
  func.func @main(%w: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>, jax.buffer_donor = true},
                  %x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data":(1)2}, {}]>},
                  %open: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {?}]>},
                  %uneven: tensor<6x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>})
      -> (tensor<8x8xf32> {jax.result_info = "r", sdy.sharding = #sdy.sharding<@mesh, [{"model", "data"}, {}]>}) {
    %0 = sdy.sharding_constraint %w <@mesh, [{"data"}, {"model"}]> : tensor<8x8xf32>
    %1 = sdy.sharding_constraint %0 <@mesh, [{"data"}, {?}]> : tensor<8x8xf32>
    %2 = stablehlo.add %1, %x {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>} : tensor<8x8xf32>
    %3:2 = stablehlo.custom_call @two(%2) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>, <@mesh, [{"model"}, {}]>]>} : (tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>)
    stablehlo.custom_call @one(%2) {has_side_effect = true, sdy.sharding = #sdy.sharding_per_value<[<@maximal_mesh_0, []>]>} : (tensor<8x8xf32>) -> ()
    %4 = func.call @inner(%3#0) : (tensor<8x8xf32>) -> tensor<8x8xf32>
    return %4 : tensor<8x8xf32>
  }
  func.func private @inner(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@turned, [{"z"}, {}]>}) -> tensor<8x8xf32> {
    return %a : tensor<8x8xf32>
  }
}
