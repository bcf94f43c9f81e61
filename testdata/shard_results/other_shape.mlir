// RUN: hlopass rewrite %s --shard %S/follow.yaml --donate %S/other_shape.json -o %t/out.mlir
// A result of another shape cannot follow, and its shards would be another size.

func.func @main(%w: tensor<8xf32> loc("w")) -> tensor<2x4xf32> {
  %0 = stablehlo.reshape %w : (tensor<8xf32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}
