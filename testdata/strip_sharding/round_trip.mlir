// RUN: hlopass rewrite %s --pipeline strip-sharding | filecheck %s
// What Shardy keeps among frontend attributes goes; what others keep there stays.

// CHECK: module attributes {mhlo.frontend_attributes = {mine = "kept"}, mhlo.num_partitions = 1 : i32} {
// CHECK-NEXT: func.func @main(%[[w:[0-9a-z_]+]]: tensor<8xf32>) -> tensor<8xf32> {
// CHECK-NEXT: return %[[w]] : tensor<8xf32>
module attributes {mhlo.frontend_attributes = {mine = "kept", xla.sdy.meshes = "{mesh = #sdy.mesh<[\22x\22=8]>}"}, mhlo.num_partitions = 8 : i32} {
  func.func @main(%w: tensor<8xf32> {mhlo.frontend_attributes = {xla.sdy.sharding = "#sdy.sharding<@mesh, [{\22x\22}]>"}, mhlo.sharding = "{devices=[8]<=[8]}"}) -> tensor<8xf32> {
    stablehlo.custom_call @xla.sdy.ShardingGroup(%w) {has_side_effect = true, mhlo.frontend_attributes = {xla.sdy.sharding_group_id = "0 : i64"}} : (tensor<8xf32>) -> ()
    %0 = stablehlo.custom_call @xla.sdy.FuncResultSharding(%w) {mhlo.frontend_attributes = {xla.sdy.sharding = "#sdy.sharding_per_value<[<@mesh, [{\22x\22}]>]>"}} : (tensor<8xf32>) -> tensor<8xf32>
    return %0 : tensor<8xf32>
  }
}
