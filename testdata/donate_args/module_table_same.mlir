// RUN: hlopass rewrite %s --donate %S/module_table_same.json --check
// RUN: hlopass rewrite %s --donate %S/module_table_same.json | filecheck %s
// A module's own alias table that says all that is asked for stays as it is.

// CHECK: mhlo.input_output_alias = [{alias
// CHECK-NEXT: func.func @main(%w: tensor<4xf32>, %m: tensor<4xf32>)
module attributes {mhlo.input_output_alias = [{alias = {kind = "may_alias", parameter_index = array<i64>, parameter_number = 1 : i64}, output_index = array<i64: 1>}]} {
  func.func @main(%w: tensor<4xf32>, %m: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    return %w, %m : tensor<4xf32>, tensor<4xf32>
  }
}
