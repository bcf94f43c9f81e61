// RUN: hlopass rewrite %s --automatic off | filecheck %s
// `automatic: off` takes out malformed attributes as well.

// CHECK: func.func @main(%{{\w+}}: tensor<4xf32>, %{{\w+}}: tensor<4xf32>, %{{\w+}}: tensor<4xf32>)
func.func @main(%a: tensor<4xf32> {tf.aliasing_output = "0"}, %b: tensor<4xf32> {jax.buffer_donor}, %c: tensor<4xf32> {jax.buffer_donor = true, tf.aliasing_output = 0 : i32}) -> tensor<4xf32> {
  return %a : tensor<4xf32>
}
