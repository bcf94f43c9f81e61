// RUN: hlopass rewrite %s --donate %S/donor.json | filecheck %s
// A donor needs no result of its size: XLA chooses what to do with its memory.

// CHECK: func.func @main(%{{\w+}}: tensor<4xf32> {tf.aliasing_output = 0 : i32}, %{{\w+}}: tensor<64xf32> {jax.buffer_donor = true})
func.func @main(%w: tensor<4xf32>, %scratch: tensor<64xf32>) -> tensor<4xf32> {
  %0 = stablehlo.add %w, %w : tensor<4xf32>
  return %0 : tensor<4xf32>
}
