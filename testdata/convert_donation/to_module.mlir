// RUN: hlopass rewrite %s --pipeline convert-donation{to=module} -o %t/out.mlir
// RUN: hlopass rewrite %s --pipeline convert-donation{to=module} | filecheck %s
// Aliases move to the module's table, which has no place for donors.

// CHECK: module attributes {mhlo.input_output_alias = [{alias = {kind = "may_alias", parameter_index = array<i64>, parameter_number = 0 : i64}, output_index = array<i64: 1>}]} {
// CHECK-NEXT: func.func @main(%{{\w+}}: tensor<4xf32>, %{{\w+}}: tensor<4xf32> {jax.buffer_donor = true})
func.func @main(%a: tensor<4xf32> {tf.aliasing_output = 1 : i32}, %b: tensor<4xf32> {jax.buffer_donor = true}) -> (tensor<4xf32>, tensor<4xf32>) {
  return %b, %a : tensor<4xf32>, tensor<4xf32>
}
