// RUN: hlopass rewrite %s --shard %S/other_dialect.yaml
// RUN: hlopass rewrite %s --shard %S/existing.yaml
// The dialects are never mixed; 'same' is what the program uses.

module attributes {mhlo.num_partitions = 8 : i32} {
  func.func @main(%a: tensor<8x8xf32> loc("a")) -> tensor<8x8xf32> {
    %0 = stablehlo.custom_call @Sharding(%a) {mhlo.sharding = "{devices=[8,1]<=[8]}"} : (tensor<8x8xf32>) -> tensor<8x8xf32>
    return %0 : tensor<8x8xf32>
  }
}
