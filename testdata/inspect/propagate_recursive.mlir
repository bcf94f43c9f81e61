// RUN: hlopass inspect %s --propagate

sdy.mesh @mesh = <["data"=4, "model"=2]>
func.func public @main(%x: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}) -> tensor<8x16xf32> {
  %0 = call @f(%x) : (tensor<8x16xf32>) -> tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}
func.func private @f(%x: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %0 = call @f(%x) : (tensor<8x16xf32>) -> tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}
