// RUN: hlopass rewrite %s --donate %S/donor_glob.json | filecheck %s
// One entry makes donors of all arguments that it selects.

// CHECK: func.func @main(%{{\w+}}: tensor<4xf32> {jax.buffer_donor = true}, %{{\w+}}: tensor<4xf32>, %{{\w+}}: tensor<8xf32> {jax.buffer_donor = true})
func.func @main(%scratch_a: tensor<4xf32>, %w: tensor<4xf32>, %scratch_b: tensor<8xf32>) -> tensor<4xf32> {
  return %w : tensor<4xf32>
}
