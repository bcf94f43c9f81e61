// RUN: hlopass rewrite %s --shard %S/two_gspmd.yaml --mesh data=4,model=2 --donate %S/w.json | filecheck %s
// The same in GSPMD: the texts of JAX, and no mesh in the module.

// CHECK: module attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
// CHECK-NEXT: func.func @main(
// CHECK-SAME: tensor<16x16xf32> {mhlo.sharding = "{devices=[1,2,4]<=[4,2]T(1,0) last_tile_dim_replicate}", tf.aliasing_output = 0 : i32}
// CHECK-SAME: tensor<8x16xf32> {mhlo.sharding = "{devices=[4,1,2]<=[8] last_tile_dim_replicate}"}
// CHECK-SAME: -> (tensor<16x16xf32> {mhlo.sharding = "{devices=[1,2,4]<=[4,2]T(1,0) last_tile_dim_replicate}"}, tensor<f32>)

func.func @main(%w: tensor<16x16xf32> loc("w"), %batch: tensor<8x16xf32> loc("batch")) -> (tensor<16x16xf32>, tensor<f32>) {
  %y = stablehlo.dot_general %batch, %w, contracting_dims = [1] x [0] : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>
  %g = stablehlo.dot_general %batch, %y, contracting_dims = [0] x [0] : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<16x16xf32>
  %new = stablehlo.subtract %w, %g : tensor<16x16xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %loss = stablehlo.reduce(%y init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x16xf32>, tensor<f32>) -> tensor<f32>
  return %new, %loss : tensor<16x16xf32>, tensor<f32>
}
