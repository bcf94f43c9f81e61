// RUN: hlopass rewrite %s --donate %S/internal.json | filecheck %s
// A pattern passes over what the frontend added for itself: hoisted constants and tokens.

// CHECK: func.func @main(%{{\w+}}: tensor<4xf32> {jax.global_constant = "_platform_index"}, %{{\w+}}: !stablehlo.token {jax.token = true}, %{{\w+}}: tensor<4xf32> {tf.aliasing_output = 1 : i32})
func.func @main(%c: tensor<4xf32> {jax.global_constant = "_platform_index"}, %t: !stablehlo.token {jax.token = true}, %w: tensor<4xf32>) -> (!stablehlo.token {jax.token = true}, tensor<4xf32>) {
  %0 = stablehlo.add %w, %c : tensor<4xf32>
  return %t, %0 : !stablehlo.token, tensor<4xf32>
}
