// RUN: hlopass rewrite %s --donate %S/glob_question.json | filecheck %s
// `?` is exactly one character: neither `w` nor `w10` is meant.

// CHECK: func.func @main(%{{\w+}}: tensor<4xf32>, %{{\w+}}: tensor<4xf32> {tf.aliasing_output = 1 : i32}, %{{\w+}}: tensor<4xf32> {tf.aliasing_output = 2 : i32}, %{{\w+}}: tensor<4xf32>)
func.func @main(%w: tensor<4xf32>, %w1: tensor<4xf32>, %w2: tensor<4xf32>, %w10: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  return %w, %w1, %w2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
