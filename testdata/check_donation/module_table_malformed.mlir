// RUN: hlopass rewrite %s
// Each entry of a module's table that means nothing is told: a list that is none of aliases,
// a parameter and a result that are not there, indices into tuples, an argument twice.

module attributes {mhlo.input_output_alias = [
    1 : i32,
    {alias = {kind = "may_alias", parameter_index = array<i64>, parameter_number = 7 : i64}, output_index = array<i64: 0>},
    {alias = {kind = "may_alias", parameter_index = array<i64>, parameter_number = 0 : i64}, output_index = array<i64: 9>},
    {alias = {kind = "may_alias", parameter_index = array<i64: 1>, parameter_number = 0 : i64}, output_index = array<i64: 0>},
    {alias = {kind = "may_alias", parameter_index = array<i64>, parameter_number = 0 : i64}, output_index = array<i64>},
    {alias = {kind = "may_alias", parameter_index = array<i64>, parameter_number = 1 : i64}, output_index = array<i64: 1>},
    {alias = {kind = "may_alias", parameter_index = array<i64>, parameter_number = 1 : i64}, output_index = array<i64: 0>},
    {alias = {kind = "may_alias"}, output_index = array<i64: 0>}
  ]} {
  func.func @main(%w: tensor<4xf32>, %m: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    return %w, %m : tensor<4xf32>, tensor<4xf32>
  }
}
