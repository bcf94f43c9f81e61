// RUN: hlopass rewrite %s --donate %S/optional_left_out.json -o %t/out.mlir
// RUN: hlopass rewrite %s --donate %S/optional_left_out.json | filecheck %s
// What is optional and cannot be done is left out, with a warning each: no result of its
// size, a result of another size, a dynamic shape, a result that is taken, none left.

// CHECK: func.func @main(%{{\w+}}: tensor<4xf32> {tf.aliasing_output = 0 : i32}, %{{\w+}}: tensor<64xf32>, %{{\w+}}: tensor<4xi1>, %{{\w+}}: tensor<?xf32>, %{{\w+}}: tensor<4xf32>, %{{\w+}}: tensor<4xf32>)
func.func @main(%w: tensor<4xf32>, %big: tensor<64xf32>, %mask: tensor<4xi1>, %ragged: tensor<?xf32>, %w2: tensor<4xf32>, %w3: tensor<4xf32>) -> (tensor<4xf32>, tensor<8xf32> {jax.result_info = "loss"}) {
  %0 = stablehlo.constant dense<0.0> : tensor<8xf32>
  return %w, %0 : tensor<4xf32>, tensor<8xf32>
}
