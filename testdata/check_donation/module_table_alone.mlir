// RUN: hlopass rewrite %s | filecheck %s
// A module's own alias table, as HLO leaves it, is kept where no argument is donated.

// CHECK: module attributes {mhlo.input_output_alias = [{
module attributes {mhlo.input_output_alias = [{alias = {kind = "may_alias", parameter_index = array<i64>, parameter_number = 0 : i64}, output_index = array<i64>}]} {
  func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
    return %arg0 : tensor<4xf32>
  }
}
