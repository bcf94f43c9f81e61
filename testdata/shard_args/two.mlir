// RUN: hlopass rewrite %s --shard %S/two.yaml --mesh data=4,model=2 --donate %S/w.json | filecheck %s
// Arguments and the result that follows are sharded; the mesh and the counts are added.

// CHECK: module attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
// CHECK-NEXT: sdy.mesh @mesh = <["data"=4, "model"=2]>
// CHECK-NEXT: func.func @main(
// CHECK-SAME: tensor<16x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>, tf.aliasing_output = 0 : i32}
// CHECK-SAME: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}
// CHECK-SAME: -> (tensor<16x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}, tensor<f32>)
func.func @main(%w: tensor<16x16xf32> loc("w"), %batch: tensor<8x16xf32> loc("batch")) -> (tensor<16x16xf32>, tensor<f32>) {
  %y = stablehlo.dot_general %batch, %w, contracting_dims = [1] x [0] : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>
  %g = stablehlo.dot_general %batch, %y, contracting_dims = [0] x [0] : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<16x16xf32>
  %new = stablehlo.subtract %w, %g : tensor<16x16xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %loss = stablehlo.reduce(%y init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x16xf32>, tensor<f32>) -> tensor<f32>
  return %new, %loss : tensor<16x16xf32>, tensor<f32>
}
