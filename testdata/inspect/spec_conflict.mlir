// RUN: hlopass inspect %s --shard %S/other.yaml
// RUN: hlopass inspect %s --shard %S/other.yaml --existing replace

sdy.mesh @mesh = <["data"=4, "model"=2]>
func.func public @main(
    %x: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>},
    %w: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model", ?}]>},
    %b: tensor<32xf32>) -> (tensor<8x16xf32>, tensor<8x32xf32>) {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
    : (tensor<8x16xf32>, tensor<16x32xf32>) -> tensor<8x32xf32>
  %1 = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<32xf32>) -> tensor<8x32xf32>
  %2 = stablehlo.add %0, %1 : tensor<8x32xf32>
  %3 = stablehlo.add %x, %x : tensor<8x16xf32>
  return %3, %2 : tensor<8x16xf32>, tensor<8x32xf32>
}
