// RUN: hlopass rewrite %s --shard %S/hidden.yaml -o %t/out.mlir
// A pattern after one that matches all, and one that matches nothing.

func.func @main(%w: tensor<16x16xf32> loc("w"), %batch: tensor<6x16xf32> loc("batch")) -> tensor<16x16xf32> {
  return %w : tensor<16x16xf32>
}
