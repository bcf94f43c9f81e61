// RUN: hlopass inspect %s --donate %S/donate.json --shard %S/layer.yaml --mesh data=2,model=2
// RUN: hlopass inspect %s --donate %S/donate.json
// RUN: hlopass inspect %s --donate -
// What rewrite would write of both, of which nothing is written.
func.func @main(%w: tensor<16x16xf32> loc("w"), %x: tensor<8x16xf32> loc("x")) -> (tensor<16x16xf32>) {
  %g = stablehlo.dot_general %x, %x, contracting_dims = [0] x [0] : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<16x16xf32>
  %new = stablehlo.subtract %w, %g : tensor<16x16xf32>
  return %new : tensor<16x16xf32>
}
