// RUN: hlopass rewrite %s --pipeline alias-by-dataflow --check
// An argument that something else reads, in no order with the write, stays: reuse would cost
// a copy.

func.func @main(%w: tensor<8xf32>) -> (tensor<8xf32>, tensor<8x8xf32>) {
  %0 = stablehlo.add %w, %w : tensor<8xf32>
  %1 = stablehlo.broadcast_in_dim %w, dims = [0] : (tensor<8xf32>) -> tensor<8x8xf32>
  return %0, %1 : tensor<8xf32>, tensor<8x8xf32>
}
