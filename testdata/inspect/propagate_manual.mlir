// RUN: hlopass inspect %s --propagate

func.func public @main(
    %x: tensor<8x16xf32> {mhlo.sharding = "{manual}"},
    %w: tensor<16x32xf32> {mhlo.sharding = "{devices=[1,2,4]<=[4,2]T(1,0) last_tile_dim_replicate}"},
    %b: tensor<32xf32>) -> (tensor<8x16xf32>, tensor<8x32xf32> {mhlo.sharding = "{replicated}"}) {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
    : (tensor<8x16xf32>, tensor<16x32xf32>) -> tensor<8x32xf32>
  %1 = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<32xf32>) -> tensor<8x32xf32>
  %2 = stablehlo.add %0, %1 : tensor<8x32xf32>
  %3 = stablehlo.add %x, %x : tensor<8x16xf32>
  return %3, %2 : tensor<8x16xf32>, tensor<8x32xf32>
}
