// RUN: hlopass rewrite %s -o %t/out.mlir
// RUN: hlopass rewrite %s | filecheck %s
// `jax.buffer_donor = false` reads like a no, and XLA takes it for a yes: it is removed.

// CHECK: func.func @main(%{{\w+}}: tensor<4xf32>, %{{\w+}}: tensor<4xf32> {jax.buffer_donor = true})
func.func @main(%w: tensor<4xf32> {jax.buffer_donor = false}, %s: tensor<4xf32> {jax.buffer_donor = true}) -> tensor<4xf32> {
  return %w : tensor<4xf32>
}
