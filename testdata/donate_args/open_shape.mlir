// RUN: hlopass rewrite %s --donate %S/open_shape.json --shard %S/open_shape.yaml
// A result of another shape that is left open has no size that could be relied on.
func.func public @main(%w: tensor<8x16xf32> loc("w"), %b: tensor<16xf32> loc("b")) -> (tensor<8x16xf32>, tensor<16xf32>) {
  return %w, %b : tensor<8x16xf32>, tensor<16xf32>
}
