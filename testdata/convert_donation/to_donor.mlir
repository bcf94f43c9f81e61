// RUN: hlopass rewrite %s --pipeline convert-donation{to=donor} | filecheck %s
// CHECK: func.func @main(%{{\w+}}: tensor<4xf32> {jax.buffer_donor = true}, %{{\w+}}: tensor<4xf32> {jax.buffer_donor = true}, %{{\w+}}: tensor<4xf32>)
func.func @main(%a: tensor<4xf32> {tf.aliasing_output = 0 : i32}, %b: tensor<4xf32> {jax.buffer_donor = true}, %c: tensor<4xf32>) -> tensor<4xf32> {
  return %a : tensor<4xf32>
}
