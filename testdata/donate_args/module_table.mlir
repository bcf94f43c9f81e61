// RUN: hlopass rewrite %s --donate %S/module_table.json | filecheck %s
// A module's own alias table beats what is written on arguments: where more is donated than
// it holds, it moves to the arguments, and an empty one is left.

// CHECK: module attributes {mhlo.input_output_alias = []} {
// CHECK-NEXT: func.func @main(%{{\w+}}: tensor<4xf32> {tf.aliasing_output = 0 : i32}, %{{\w+}}: tensor<4xf32> {tf.aliasing_output = 1 : i32})
module attributes {mhlo.input_output_alias = [{alias = {kind = "may_alias", parameter_index = array<i64>, parameter_number = 1 : i64}, output_index = array<i64: 1>}]} {
  func.func @main(%w: tensor<4xf32>, %m: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    return %w, %m : tensor<4xf32>, tensor<4xf32>
  }
}
