// RUN: hlopass rewrite %s --pipeline strip-donation | filecheck %s
// All donations go, well-formed or not, and the module's table; nothing else does.

// CHECK: module attributes {mhlo.num_partitions = 1 : i32} {
// CHECK-NEXT: func.func @main(%{{\w+}}: tensor<4xf32> {mhlo.sharding = "{replicated}"}, %{{\w+}}: tensor<4xf32>, %{{\w+}}: tensor<4xf32>)
module attributes {mhlo.input_output_alias = [{alias = {kind = "may_alias", parameter_index = array<i64>, parameter_number = 1 : i64}, output_index = array<i64>}], mhlo.num_partitions = 1 : i32} {
  func.func @main(%a: tensor<4xf32> {mhlo.sharding = "{replicated}", tf.aliasing_output = 0 : i32}, %b: tensor<4xf32> {jax.buffer_donor}, %c: tensor<4xf32> {jax.buffer_donor = true}) -> tensor<4xf32> {
    return %a : tensor<4xf32>
  }
}
