// RUN: hlopass rewrite %s --pipeline convert-sharding -o %t/out.mlir
// Six devices as two by three and as three by two: no axes say both.

func.func @main(%a: tensor<6x6xf32> {mhlo.sharding = "{devices=[2,1,3]<=[6] last_tile_dim_replicate}"} loc("a"), %b: tensor<6x6xf32> {mhlo.sharding = "{devices=[3,1,2]<=[6] last_tile_dim_replicate}"} loc("b")) -> tensor<6x6xf32> {
  return %a : tensor<6x6xf32>
}
