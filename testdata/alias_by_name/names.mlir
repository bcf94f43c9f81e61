// RUN: hlopass rewrite %s --pipeline alias-by-name | filecheck %s
// `new` and `out` are taken off; `x` has no mate, `k`'s has another type, and `w`'s is
// taken by the frontend already.

// CHECK: func.func @main(%{{\w+}}: tensor<4xf32> {tf.aliasing_output = 1 : i32}, %{{\w+}}: tensor<8xf32> {tf.aliasing_output = 0 : i32}, %{{\w+}}: tensor<4xf32>, %{{\w+}}: tensor<4xf32>, %{{\w+}}: tensor<4xf32>, %{{\w+}}: tensor<4xf32> {tf.aliasing_output = 3 : i32})
func.func @main(%params: tensor<4xf32>, %cache: tensor<8xf32>, %x: tensor<4xf32>, %k: tensor<4xf32>, %w: tensor<4xf32>, %other: tensor<4xf32> {tf.aliasing_output = 3 : i32}) -> (tensor<8xf32> {jax.result_info = "cache_out"}, tensor<4xf32> {jax.result_info = "new_params"}, tensor<4xi32> {jax.result_info = "new_k"}, tensor<4xf32> {jax.result_info = "w"}) {
  %0 = stablehlo.constant dense<0> : tensor<4xi32>
  return %cache, %params, %0, %other : tensor<8xf32>, tensor<4xf32>, tensor<4xi32>, tensor<4xf32>
}
