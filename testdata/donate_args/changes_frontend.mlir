// RUN: hlopass rewrite %s --donate %S/changes_frontend.json | filecheck %s
// An entry for an argument replaces what the frontend wrote there: another result, an
// alias for a donor, a donor for an alias. An argument never carries both.

// CHECK: func.func @main(%{{\w+}}: tensor<4xf32> {tf.aliasing_output = 1 : i32}, %{{\w+}}: tensor<4xf32> {jax.buffer_donor = true}, %{{\w+}}: tensor<4xf32> {tf.aliasing_output = 0 : i32})
func.func @main(%w: tensor<4xf32> {tf.aliasing_output = 0 : i32}, %m: tensor<4xf32> {tf.aliasing_output = 1 : i32}, %s: tensor<4xf32> {jax.buffer_donor = true}) -> (tensor<4xf32>, tensor<4xf32>) {
  return %m, %w : tensor<4xf32>, tensor<4xf32>
}
