// RUN: hlopass inspect %s --picture x

func.func public @main(
    %x: tensor<6x16xf32> {mhlo.sharding = "{devices=[4,1,2]<=[8] last_tile_dim_replicate}"},
    %w: tensor<16x32xf32> {mhlo.sharding = "{devices=[1,2,4]<=[4,2]T(1,0) last_tile_dim_replicate}"},
    %b: tensor<32xf32>) -> (tensor<6x16xf32>, tensor<6x32xf32> {mhlo.sharding = "{replicated}"}) {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
    : (tensor<6x16xf32>, tensor<16x32xf32>) -> tensor<6x32xf32>
  %1 = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<32xf32>) -> tensor<6x32xf32>
  %2 = stablehlo.add %0, %1 : tensor<6x32xf32>
  %3 = stablehlo.add %x, %x : tensor<6x16xf32>
  return %3, %2 : tensor<6x16xf32>, tensor<6x32xf32>
}
