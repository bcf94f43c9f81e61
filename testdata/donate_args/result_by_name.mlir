// RUN: hlopass rewrite %s --donate %S/result_by_name.json | filecheck %s
// Results are named by `jax.result_info`; a glob may name one as well.

// CHECK: func.func @main(%{{\w+}}: tensor<8xf32> {tf.aliasing_output = 1 : i32}, %{{\w+}}: tensor<8xf32> {tf.aliasing_output = 2 : i32})
// CHECK-SAME: jax.result_info = "cache['k']"
func.func @main(%cache_k: tensor<8xf32>, %cache_v: tensor<8xf32>) -> (tensor<8xf32> {jax.result_info = "logits"}, tensor<8xf32> {jax.result_info = "cache['k']"}, tensor<8xf32> {jax.result_info = "cache['v']"}) {
  %0 = stablehlo.add %cache_k, %cache_v : tensor<8xf32>
  return %0, %cache_k, %cache_v : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}
