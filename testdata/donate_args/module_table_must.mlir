// RUN: hlopass rewrite %s --donate %S/module_table_must.json -o %t/out.mlir
// RUN: hlopass rewrite %s --donate %S/module_table_must.json | filecheck %s
// Arguments cannot say must-alias, which is worth a warning.

// CHECK: module attributes {mhlo.input_output_alias = []} {
// CHECK-NEXT: func.func @main(%{{\w+}}: tensor<4xf32> {tf.aliasing_output = 0 : i32}, %{{\w+}}: tensor<4xf32> {tf.aliasing_output = 1 : i32})
module attributes {mhlo.input_output_alias = [{alias = {kind = "must_alias", parameter_index = array<i64>, parameter_number = 1 : i64}, output_index = array<i64: 1>}]} {
  func.func @main(%w: tensor<4xf32>, %m: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    return %w, %m : tensor<4xf32>, tensor<4xf32>
  }
}
