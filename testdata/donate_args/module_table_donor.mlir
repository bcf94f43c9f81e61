// RUN: hlopass rewrite %s --donate %S/module_table_donor.json | filecheck %s
// XLA reads donors beside a module's own alias table, which stays.

// CHECK: mhlo.input_output_alias = [{alias
// CHECK-NEXT: func.func @main(%{{\w+}}: tensor<4xf32> {jax.buffer_donor = true}, %{{\w+}}: tensor<4xf32>)
module attributes {mhlo.input_output_alias = [{alias = {kind = "may_alias", parameter_index = array<i64>, parameter_number = 1 : i64}, output_index = array<i64: 1>}]} {
  func.func @main(%w: tensor<4xf32>, %m: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    %0 = stablehlo.add %w, %m : tensor<4xf32>
    return %0, %m : tensor<4xf32>, tensor<4xf32>
  }
}
