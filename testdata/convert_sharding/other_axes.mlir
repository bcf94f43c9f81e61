// RUN: hlopass rewrite %s --mesh data=4,model=2 --pipeline "convert-sharding{to=shardy}"
// RUN: hlopass rewrite %s --mesh data=8 --pipeline "convert-sharding{to=shardy}"
// RUN: hlopass rewrite %s --mesh data=2,model=2 --pipeline "convert-sharding{to=shardy}"
// The axes that are given are taken, or parts of them, where they say the tiling.
func.func @main(%a: tensor<8x8xf32> {mhlo.sharding = "{devices=[4,1,2]<=[8] last_tile_dim_replicate}"}) -> tensor<8x8xf32> {
  return %a : tensor<8x8xf32>
}
