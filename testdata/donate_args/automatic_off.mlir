// RUN: hlopass rewrite %s --donate %S/automatic_off.json | filecheck %s
// `automatic: off` drops what the frontend wrote and keeps what is asked for; the result
// that the frontend had given away is free again.

// CHECK: func.func @main(%{{\w+}}: tensor<4xf32> {tf.aliasing_output = 0 : i32}, %{{\w+}}: tensor<4xf32>, %{{\w+}}: tensor<4xf32>)
func.func @main(%w: tensor<4xf32>, %m: tensor<4xf32> {tf.aliasing_output = 0 : i32}, %s: tensor<4xf32> {jax.buffer_donor = true}) -> tensor<4xf32> {
  %0 = stablehlo.add %w, %m : tensor<4xf32>
  return %0 : tensor<4xf32>
}
