// RUN: hlopass rewrite %s --donate %S/automatic_off.json --automatic frontend | filecheck %s
// The option beats the manifest's `automatic: off`.

// CHECK: func.func @main(%{{\w+}}: tensor<4xf32> {tf.aliasing_output = 1 : i32}, %{{\w+}}: tensor<4xf32> {tf.aliasing_output = 0 : i32})
func.func @main(%w: tensor<4xf32>, %m: tensor<4xf32> {tf.aliasing_output = 0 : i32}) -> (tensor<4xf32>, tensor<4xf32>) {
  return %m, %w : tensor<4xf32>, tensor<4xf32>
}
