// RUN: hlopass rewrite %s --pipeline strip-sharding | filecheck %s
// All of Shardy's goes, in private functions and nested regions too; donation stays.

// CHECK: module attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
// CHECK-NEXT: func.func @main(%{{\w+}}: tensor<8x8xf32> {tf.aliasing_output = 0 : i32}, %{{\w+}}: tensor<i1>) -> (tensor<8x8xf32> {jax.result_info = "r"}) {
// CHECK-NEXT: %[[if:[0-9a-z_]+]] = "stablehlo.if"(%{{\w+}}) ({
// CHECK-NEXT: %[[sum:[0-9a-z_]+]] = stablehlo.add %[[w:[0-9a-z_]+]], %[[w]] : tensor<8x8xf32>
// CHECK-NEXT: stablehlo.return %[[sum]]
// CHECK: stablehlo.constant dense<0.000000e+00> : tensor<8x8xf32>
// CHECK-NOT: sdy
// CHECK: stablehlo.custom_call @mine(%{{\w+}}) : (tensor<8x8xf32>) -> tensor<8x8xf32>
// CHECK: func.func private @inner(%{{\w+}}: tensor<8x8xf32>) -> tensor<8x8xf32> {
// CHECK-NEXT: return
module attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["data"=4, "model"=2]>
  sdy.mesh @maximal_mesh_0 = <[], device_ids=[0]>
  func.func @main(%w: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>, tf.aliasing_output = 0 : i32}, %p: tensor<i1>) -> (tensor<8x8xf32> {jax.result_info = "r", sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}) {
    %0 = "stablehlo.if"(%p) ({
      %a = sdy.sharding_constraint %w <@mesh, [{"data"}, {?}]> : tensor<8x8xf32>
      %b = sdy.reshard %a <@mesh, [{}, {"model"}]> : tensor<8x8xf32>
      %s = stablehlo.add %b, %b {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"data"}, {}]>]>} : tensor<8x8xf32>
      sdy.sharding_group %s group_id=0 : tensor<8x8xf32>
      stablehlo.return %s : tensor<8x8xf32>
    }, {
      %c = sdy.constant dense<0.0> : tensor<8x8xf32>
      stablehlo.return %c : tensor<8x8xf32>
    }) : (tensor<i1>) -> tensor<8x8xf32>
    %1 = stablehlo.custom_call @mine(%0) {sdy.sharding = #sdy.sharding_per_value<[<@maximal_mesh_0, []>]>, sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i, j]) {i=8, j=8}>} : (tensor<8x8xf32>) -> tensor<8x8xf32>
    %2 = func.call @inner(%1) : (tensor<8x8xf32>) -> tensor<8x8xf32>
    return %2 : tensor<8x8xf32>
  }
  func.func private @inner(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}) {
    %0 = sdy.propagation_barrier %x allowed_direction=NONE : tensor<8x8xf32>
    return %0 : tensor<8x8xf32>
  }
}
