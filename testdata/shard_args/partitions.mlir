// RUN: hlopass rewrite %s --shard %S/existing.yaml
// A program for another number of devices than the mesh has.

module attributes {mhlo.num_partitions = 4 : i32} {
  func.func @main(%a: tensor<8x8xf32> loc("a")) -> tensor<8x8xf32> {
    return %a : tensor<8x8xf32>
  }
}
