// RUN: hlopass rewrite %s --pipeline strip-sharding -o %t/out.mlir
// A program that XLA has partitioned is that of one device.

module attributes {mhlo.num_partitions = 2 : i32, mhlo.spmd_output_sharding = "{replicated}"} {
  func.func @main(%w: tensor<8xf32>) -> tensor<8xf32> {
    return %w : tensor<8xf32>
  }
}
