// RUN: hlopass rewrite %s -o %t/out.mlir
// RUN: hlopass rewrite %s | filecheck %s
// XLA reads a module's alias table and no argument's alias. What stands only on arguments
// means nothing, which is worth a warning each; the module's aliases are kept.

// CHECK: func.func @main(%{{\w+}}: tensor<4xf32>, %{{\w+}}: tensor<4xf32> {tf.aliasing_output = 1 : i32})
module attributes {mhlo.input_output_alias = [{alias = {kind = "may_alias", parameter_index = array<i64>, parameter_number = 1 : i64}, output_index = array<i64: 1>}]} {
  func.func @main(%w: tensor<4xf32> {tf.aliasing_output = 0 : i32}, %m: tensor<4xf32> {tf.aliasing_output = 0 : i32}) -> (tensor<4xf32>, tensor<4xf32>) {
    return %w, %m : tensor<4xf32>, tensor<4xf32>
  }
}
