// RUN: hlopass rewrite %s --pipeline "convert-sharding{to=shardy}" | filecheck %s
// A program of both dialects becomes one of one, over the mesh that it has and parts of its axes.

// CHECK: sdy.mesh @devices = <["x"=8]>
// CHECK-NOT: sdy.mesh
// CHECK: %{{\w+}}: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@devices, [{"x"}, {}]>}
// CHECK-SAME: %{{\w+}}: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@devices, [{"x":(2)4}, {"x":(1)2}]>}
// CHECK-SAME: %{{\w+}}: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@devices, [{"x", ?}, {?}]>}
// CHECK-NEXT: sdy.sharding_constraint %{{\w+}} <@devices, [{"x":(1)4}, {}]> : tensor<8x8xf32>
// CHECK-NOT: mhlo.sharding
module attributes {mhlo.num_partitions = 8 : i32} {
  sdy.mesh @devices = <["x"=8]>
  func.func @main(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@devices, [{"x"}, {}]>},
                  %b: tensor<8x8xf32> {mhlo.sharding = "{devices=[4,2]<=[2,4]T(1,0)}"},
                  %both: tensor<8x8xf32> {mhlo.sharding = "{devices=[8,1]<=[8]}", sdy.sharding = #sdy.sharding<@devices, [{"x", ?}, {?}]>}) -> tensor<8x8xf32> {
    %0 = stablehlo.custom_call @Sharding(%a) {mhlo.sharding = "{devices=[4,1,2]<=[8] last_tile_dim_replicate}"} : (tensor<8x8xf32>) -> tensor<8x8xf32>
    return %0 : tensor<8x8xf32>
  }
}
