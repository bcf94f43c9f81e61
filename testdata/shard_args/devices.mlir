// RUN: hlopass rewrite %s --shard %S/two.yaml --mesh model=1 --devices 8 | filecheck %s
// One axis is solved from the number of devices. Without donation the result stays open.

// CHECK: sdy.mesh @mesh = <["data"=8, "model"=1]>
// CHECK: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}
// CHECK-SAME: -> (tensor<16x16xf32>, tensor<f32>)

func.func @main(%w: tensor<16x16xf32> loc("w"), %batch: tensor<8x16xf32> loc("batch")) -> (tensor<16x16xf32>, tensor<f32>) {
  %y = stablehlo.dot_general %batch, %w, contracting_dims = [1] x [0] : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>
  %g = stablehlo.dot_general %batch, %y, contracting_dims = [0] x [0] : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<16x16xf32>
  %new = stablehlo.subtract %w, %g : tensor<16x16xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %loss = stablehlo.reduce(%y init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x16xf32>, tensor<f32>) -> tensor<f32>
  return %new, %loss : tensor<16x16xf32>, tensor<f32>
}
