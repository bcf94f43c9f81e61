// RUN: hlopass rewrite %s

module attributes {mhlo.input_output_alias = [{alias = {kind = "may_alias", parameter_index = array<i64>, parameter_number = 0 : i64}, output_index = array<i64>}]} {
  func.func @main(%w: tensor<4xf32>, %m: tensor<4xf32> {tf.aliasing_output = 0 : i32}) -> tensor<4xf32> {
    return %w : tensor<4xf32>
  }
}
