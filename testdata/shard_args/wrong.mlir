// RUN: hlopass rewrite %s --shard %S/wrong.yaml -o %t/out.mlir
// Every mistake is told.

func.func @main(%w: tensor<16x16xf32> loc("w"), %batch: tensor<6x16xf32> loc("batch")) -> tensor<16x16xf32> {
  return %w : tensor<16x16xf32>
}
