// RUN: hlopass rewrite %s --pipeline convert-sharding -o %t/out.mlir
// What has no counterpart in Shardy is an error, and so is what XLA cannot read.

module attributes {mhlo.num_partitions = 2 : i32} {
  func.func @main(%a: tensor<8xf32> {mhlo.sharding = "P('data')"} loc("a"),
                  %b: tensor<8xf32> {mhlo.sharding = "{devices=[1,2]<=[2] last_tile_dims={manual}}"} loc("b"),
                  %c: tensor<8xf32> {mhlo.sharding = "{devices=[2,1]<=[2]}"} loc("c"),
                  %d: tensor<8xf32> {mhlo.sharding = "{maximal device=1}"} loc("d")) -> tensor<8xf32> {
    %0 = stablehlo.custom_call @Sharding(%a) {backend_config = "", has_side_effect = true, mhlo.sharding = "{unknown shard_as 0}"} : (tensor<8xf32>) -> tensor<8xf32>
    %1 = stablehlo.custom_call @SPMDFullToShardShape(%0) {mhlo.sharding = "{manual}"} : (tensor<8xf32>) -> tensor<4xf32>
    %2 = stablehlo.add %1, %1 {mhlo.sharding = "{{replicated}, {replicated}}"} : tensor<4xf32>
    %3 = stablehlo.custom_call @SPMDShardToFullShape(%2) {mhlo.sharding = "{devices=[2]<=[2]}"} : (tensor<4xf32>) -> tensor<8xf32>
    return %3 : tensor<8xf32>
  }
}
