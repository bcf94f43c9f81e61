// RUN: hlopass rewrite %s --donate %S/memory_kind_differs.json
// A buffer on the host serves no result on the device, and the other way round.

func.func @main(%h: tensor<8xf32> {mhlo.memory_kind = "pinned_host"}, %d: tensor<4xf32>) -> (tensor<4xf32> {mhlo.memory_kind = "unpinned_host"}, tensor<8xf32>) {
  return %d, %h : tensor<4xf32>, tensor<8xf32>
}
