// RUN: hlopass rewrite %s --donate %S/wins_result.json -o %t/out.mlir
// RUN: hlopass rewrite %s --donate %S/wins_result.json | filecheck %s
// What is asked for wins a result from the frontend, which is worth a warning.

// CHECK: func.func @main(%{{\w+}}: tensor<4xf32>, %{{\w+}}: tensor<4xf32> {tf.aliasing_output = 0 : i32})
func.func @main(%w: tensor<4xf32> {tf.aliasing_output = 0 : i32}, %m: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  return %m, %w : tensor<4xf32>, tensor<4xf32>
}
