// RUN: hlopass rewrite %s --pipeline strip-sharding | filecheck %s
// All of GSPMD's goes, however written; a collective of each device alone may stay.

// CHECK: module attributes {mhlo.num_partitions = 1 : i32} {
// CHECK-NEXT: func.func @main(%{{\w+}}: tensor<8x8xf32> {jax.buffer_donor = true}, %{{\w+}}: tensor<8xf32>) -> tensor<8x8xf32> {
// CHECK-NEXT: %[[sum:[0-9a-z_]+]] = stablehlo.add %[[w:[0-9a-z_]+]], %[[w]] : tensor<8x8xf32>
// CHECK-NEXT: %[[all:[0-9a-z_]+]] = "stablehlo.all_reduce"(%[[sum]]) <{replica_groups = dense<0> : tensor<1x1xi64>}> ({
// CHECK: return %[[all]] : tensor<8x8xf32>
module attributes {mhlo.num_partitions = 8 : i32} {
  func.func @main(%w: tensor<8x8xf32> {jax.buffer_donor = true, mhlo.sharding = "{devices=[8,1]<=[8]}"}, %g: tensor<8xf32> {mhlo.sharding = "garbage"}) -> (tensor<8x8xf32> {mhlo.sharding = "{replicated}"}) {
    %0 = stablehlo.custom_call @Sharding(%w) {backend_config = "unspecified_dims=[1]", mhlo.sharding = "{devices=[8,1]<=[8]}"} : (tensor<8x8xf32>) -> tensor<8x8xf32>
    %1 = stablehlo.custom_call @Sharding(%0) {backend_config = "", has_side_effect = true, mhlo.sharding = "{unknown shard_as 0}"} : (tensor<8x8xf32>) -> tensor<8x8xf32>
    %2 = stablehlo.add %1, %1 {mhlo.sharding = "{devices=[8,1]<=[8]}"} : tensor<8x8xf32>
    %3 = "stablehlo.all_reduce"(%2) <{replica_groups = dense<0> : tensor<1x1xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %s = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<8x8xf32>) -> tensor<8x8xf32>
    return %3 : tensor<8x8xf32>
  }
}
