// RUN: hlopass rewrite %s --donate %S/donor_false_asked.json | filecheck %s
// What is asked for replaces a `false`, and there is nothing left to warn about.

// CHECK: func.func @main(%{{\w+}}: tensor<4xf32> {jax.buffer_donor = true}, %{{\w+}}: tensor<4xf32> {tf.aliasing_output = 0 : i32})
func.func @main(%w: tensor<4xf32> {jax.buffer_donor = false}, %m: tensor<4xf32> {jax.buffer_donor = false}) -> tensor<4xf32> {
  %0 = stablehlo.add %w, %m : tensor<4xf32>
  return %0 : tensor<4xf32>
}
