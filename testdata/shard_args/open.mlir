// RUN: hlopass rewrite %s --shard %S/open.yaml --check
// RUN: hlopass rewrite %s --shard %S/open.yaml -o %t/out.mlir
// RUN: hlopass rewrite %s --shard %S/open.yaml --mesh data=4 --check
// RUN: hlopass rewrite %s --shard %S/open.yaml --mesh data=4,rows=2
// RUN: hlopass rewrite %s --shard %S/open.yaml --mesh data=4 --devices 6
// RUN: hlopass rewrite %s --mesh data=4
// A mesh without sizes: checked as far as it goes, and not written.

func.func @main(%w: tensor<16x16xf32> loc("w"), %batch: tensor<6x16xf32> loc("batch")) -> tensor<16x16xf32> {
  return %w : tensor<16x16xf32>
}
