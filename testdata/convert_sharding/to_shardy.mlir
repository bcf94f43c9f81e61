// RUN: hlopass rewrite %s --pipeline convert-sharding | filecheck %s
// The axes of the new mesh are those that all tilings need, however they are written.

// CHECK: module attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
// CHECK-NEXT: sdy.mesh @maximal_mesh_0 = <[], device_ids=[0]>
// CHECK-NEXT: sdy.mesh @mesh = <["axis_0"=2, "axis_1"=2, "axis_2"=2]>
// CHECK-NEXT: func.func @main(
// CHECK-SAME: {jax.buffer_donor = true, sdy.sharding = #sdy.sharding<@mesh, [{}, {"axis_2"}]>}
// CHECK-SAME: {sdy.sharding = #sdy.sharding<@mesh, [{"axis_2", "axis_0", "axis_1"}, {}]>}
// CHECK-SAME: {sdy.sharding = #sdy.sharding<@mesh, [{"axis_1"}, {"axis_0"}]>}
// CHECK-SAME: -> (tensor<8x8xf32> {jax.result_info = "r", sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
// CHECK-NEXT: sdy.sharding_constraint %{{\w+}} <@mesh, [{"axis_0", "axis_1"}, {?}]> : tensor<8x8xf32>
// CHECK-NEXT: sdy.sharding_constraint %{{\w+}} <@mesh, [{?}, {?}]> : tensor<8x8xf32>
// CHECK-NEXT: stablehlo.add {{.*}} {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>}
// CHECK-NEXT: stablehlo.custom_call @two(%{{\w+}}) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>, <@mesh, [{"axis_2"}, {}]>]>}
// CHECK-NEXT: stablehlo.custom_call @one(%{{\w+}}) {has_side_effect = true, sdy.sharding = #sdy.sharding_per_value<[<@maximal_mesh_0, []>]>}
func.func @main(%w: tensor<8x8xf32> {mhlo.sharding = "{devices=[1,2,4]<=[4,2]T(1,0) last_tile_dim_replicate}", jax.buffer_donor = true},
                %x: tensor<8x8xf32> {mhlo.sharding = "{devices=[8,1]<=[4,2]T(1,0)}"},
                %y: tensor<8x8xf32> {mhlo.sharding = "{devices=[2,2,2]0,1,4,5,2,3,6,7 last_tile_dims={replicated}}"})
    -> (tensor<8x8xf32> {jax.result_info = "r", mhlo.sharding = "{replicated}"}) {
  %0 = stablehlo.custom_call @Sharding(%w) {backend_config = "unspecified_dims=[1]", mhlo.sharding = "{devices=[4,1,2]<=[8] last_tile_dim_replicate}"} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = stablehlo.custom_call @Sharding(%0) {backend_config = "unspecified_dims=[0,1]", mhlo.sharding = "{replicated}"} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %2 = stablehlo.add %1, %x {mhlo.sharding = "{replicated}"} : tensor<8x8xf32>
  %3:2 = stablehlo.custom_call @two(%2) {mhlo.sharding = "{{replicated}, {devices=[2,1,4]<=[4,2]T(1,0) last_tile_dim_replicate}}"} : (tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>)
  stablehlo.custom_call @one(%2) {has_side_effect = true, mhlo.sharding = "{maximal device=0}"} : (tensor<8x8xf32>) -> ()
  return %3#0 : tensor<8x8xf32>
}
