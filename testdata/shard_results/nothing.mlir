// RUN: hlopass rewrite %s --shard %S/nothing.yaml -o %t/out.mlir
// Results are to follow, and nothing is donated that they could reuse.
func.func @main(%a: tensor<6x8xf32> loc("a"), %b: tensor<8xf32> loc("b")) -> (tensor<6x8xf32>, tensor<8xf32>) {
  return %a, %b : tensor<6x8xf32>, tensor<8xf32>
}
