// RUN: hlopass rewrite %s --donate %S/keep.json | filecheck %s
// `keep` takes arguments away from a pattern, by name and by glob, and says nothing.

// CHECK: func.func @main(%{{\w+}}: tensor<4xf32> {tf.aliasing_output = 0 : i32}, %{{\w+}}: tensor<4xf32>, %{{\w+}}: tensor<f32>, %{{\w+}}: tensor<4xf32>)
func.func @main(%w: tensor<4xf32>, %ema_w: tensor<4xf32>, %lr: tensor<f32>, %ema_b: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<f32>) {
  return %w, %ema_w, %lr : tensor<4xf32>, tensor<4xf32>, tensor<f32>
}
