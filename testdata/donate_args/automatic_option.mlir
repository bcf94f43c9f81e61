// RUN: hlopass rewrite %s --automatic off | filecheck %s
// Without a manifest, `--automatic off` alone takes all donations out.

// CHECK: func.func @main(%{{\w+}}: tensor<4xf32> {mhlo.layout_mode = "default"}, %{{\w+}}: tensor<4xf32>)
func.func @main(%w: tensor<4xf32> {mhlo.layout_mode = "default", tf.aliasing_output = 0 : i32}, %s: tensor<4xf32> {jax.buffer_donor = true}) -> tensor<4xf32> {
  return %w : tensor<4xf32>
}
