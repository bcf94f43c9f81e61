// RUN: hlopass rewrite %s --donate %S/keep_beats.json -o %t/out.mlir
// RUN: hlopass rewrite %s --donate %S/keep_beats.json | filecheck %s
// `keep` beats an exact entry, which is worth a warning, and what the frontend wrote.

// CHECK: func.func @main(%{{\w+}}: tensor<4xf32>, %{{\w+}}: tensor<4xf32>, %{{\w+}}: tensor<4xf32> {tf.aliasing_output = 2 : i32}, %{{\w+}}: tensor<4xf32> {mhlo.sharding = "{replicated}"})
func.func @main(%w: tensor<4xf32>, %m: tensor<4xf32> {tf.aliasing_output = 1 : i32}, %v: tensor<4xf32> {tf.aliasing_output = 2 : i32}, %s: tensor<4xf32> {jax.buffer_donor = true, mhlo.sharding = "{replicated}"}) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  return %w, %m, %v : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
