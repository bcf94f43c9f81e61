// RUN: hlopass rewrite %s --pipeline "convert-sharding{to=gspmd}" -o %t/out.mlir
// RUN: hlopass rewrite %s --pipeline "convert-sharding{to=shardy}" -o %t/out.mlir
// One sharding for two results, a word that is no sharding, and a garbled one beside a good one.

module attributes {mhlo.num_partitions = 2 : i32} {
  sdy.mesh @mesh = <["x"=2]>
  func.func @main(%a: tensor<8xf32> {mhlo.sharding = "{devices=[2<=[2]}", sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>} loc("a")) -> tensor<8xf32> {
    %0 = stablehlo.custom_call @Sharding(%a) {backend_config = "unspecified_dims=[3]", mhlo.sharding = "{replicated}"} : (tensor<8xf32>) -> tensor<8xf32>
    %1:2 = stablehlo.custom_call @two(%0) {mhlo.sharding = "{devices=[2]<=[2]}"} : (tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
    %2:2 = stablehlo.custom_call @Sharding(%0) {mhlo.sharding = "{{replicated}, {replicated}}"} : (tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
    return %0 : tensor<8xf32>
  }
}
