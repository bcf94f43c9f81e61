// RUN: hlopass rewrite %s --pipeline convert-donation -o %t/out.mlir
// RUN: hlopass rewrite %s --pipeline convert-donation | filecheck %s
// Donors are tied to free results by data flow; one without a result of its size stays.

// CHECK: func.func @main(%{{\w+}}: tensor<4xf32> {tf.aliasing_output = 1 : i32}, %{{\w+}}: tensor<4xf32> {tf.aliasing_output = 0 : i32}, %{{\w+}}: tensor<9xf32> {jax.buffer_donor = true})
func.func @main(%a: tensor<4xf32> {jax.buffer_donor = true}, %b: tensor<4xf32> {jax.buffer_donor = true}, %s: tensor<9xf32> {jax.buffer_donor = true}) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = stablehlo.multiply %b, %b : tensor<4xf32>
  %1 = stablehlo.add %a, %a : tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}
