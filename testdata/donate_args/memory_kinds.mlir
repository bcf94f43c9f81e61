// RUN: hlopass rewrite %s --donate %S/memory_kinds.json | filecheck %s
// Buffers stay in their memory: what lives on the host is paired with a result there.

// CHECK: func.func @main(%{{\w+}}: tensor<4xf32> {mhlo.memory_kind = "pinned_host", tf.aliasing_output = 1 : i32}, %{{\w+}}: tensor<4xf32> {tf.aliasing_output = 0 : i32})
func.func @main(%h: tensor<4xf32> {mhlo.memory_kind = "pinned_host"}, %d: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32> {mhlo.memory_kind = "pinned_host"}) {
  return %d, %h : tensor<4xf32>, tensor<4xf32>
}
