// RUN: hlopass rewrite %s --pipeline "convert-sharding{to=gspmd}" --check
// What is in the dialect already is left as it is, problems and all.

func.func @main(%a: tensor<8xf32> {mhlo.sharding = "P('data')"}) -> tensor<4xf32> {
  %1 = stablehlo.custom_call @SPMDFullToShardShape(%a) {mhlo.sharding = "{manual}"} : (tensor<8xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
