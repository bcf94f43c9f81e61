// RUN: hlopass rewrite %s -o %t/out.mlir
// RUN: hlopass rewrite %s | filecheck %s
// XLA refuses an argument that is a donor and stands in the module's table: the alias stays.

// CHECK: func.func @main(%{{\w+}}: tensor<4xf32>, %{{\w+}}: tensor<4xf32> {tf.aliasing_output = 1 : i32})
module attributes {mhlo.input_output_alias = [{alias = {kind = "may_alias", parameter_index = array<i64>, parameter_number = 1 : i64}, output_index = array<i64: 1>}]} {
  func.func @main(%w: tensor<4xf32>, %m: tensor<4xf32> {jax.buffer_donor = true}) -> (tensor<4xf32>, tensor<4xf32>) {
    return %w, %m : tensor<4xf32>, tensor<4xf32>
  }
}
