// RUN: hlopass rewrite %s --automatic off | filecheck %s
// `--automatic off` empties a module's own alias table as well.

// CHECK: module attributes {mhlo.input_output_alias = []} {
// CHECK-NEXT: func.func @main(%{{\w+}}: tensor<4xf32>, %{{\w+}}: tensor<4xf32>)
module attributes {mhlo.input_output_alias = [{alias = {kind = "may_alias", parameter_index = array<i64>, parameter_number = 1 : i64}, output_index = array<i64: 1>}]} {
  func.func @main(%w: tensor<4xf32>, %m: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    return %w, %m : tensor<4xf32>, tensor<4xf32>
  }
}
