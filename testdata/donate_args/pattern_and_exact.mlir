// RUN: hlopass rewrite %s --donate %S/pattern_and_exact.json | filecheck %s
// An exact entry refines a pattern, before or after it; the rest of the pattern is paired
// with what is left.

// CHECK: func.func @main(%{{\w+}}: tensor<4xf32> {tf.aliasing_output = 1 : i32}, %{{\w+}}: tensor<4xf32> {tf.aliasing_output = 0 : i32}, %{{\w+}}: tensor<4xf32> {jax.buffer_donor = true})
func.func @main(%p0: tensor<4xf32>, %p1: tensor<4xf32>, %p2: tensor<4xf32>) -> (tensor<4xf32> {jax.result_info = "out1"}, tensor<4xf32> {jax.result_info = "out0"}) {
  return %p1, %p0 : tensor<4xf32>, tensor<4xf32>
}
