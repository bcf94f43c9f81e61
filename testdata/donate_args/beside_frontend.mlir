// RUN: hlopass rewrite %s --donate %S/beside_frontend.json | filecheck %s
// What is asked for stands beside the frontend's own alias and donor, which stay as they
// are, and takes a result that is free.

// CHECK: func.func @main(%{{\w+}}: tensor<4xf32> {tf.aliasing_output = 0 : i32}, %{{\w+}}: tensor<4xf32> {tf.aliasing_output = 1 : i32}, %{{\w+}}: tensor<4xf32> {jax.buffer_donor = true})
func.func @main(%w: tensor<4xf32> {tf.aliasing_output = 0 : i32}, %m: tensor<4xf32>, %s: tensor<4xf32> {jax.buffer_donor = true}) -> (tensor<4xf32>, tensor<4xf32>) {
  return %w, %m : tensor<4xf32>, tensor<4xf32>
}
