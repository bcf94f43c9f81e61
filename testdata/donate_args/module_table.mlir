// RUN: hlopass rewrite %s --donate %S/module_table.json
// A module's own alias table switches off the aliases that are written on arguments.

module attributes {mhlo.input_output_alias = [{alias = {kind = "may_alias", parameter_index = array<i64>, parameter_number = 1 : i64}, output_index = array<i64>}]} {
  func.func @main(%w: tensor<4xf32>, %m: tensor<4xf32>) -> tensor<4xf32> {
    return %w : tensor<4xf32>
  }
}
