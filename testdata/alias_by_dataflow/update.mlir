// RUN: hlopass rewrite %s --pipeline alias-by-dataflow | filecheck %s
// A cache that one result updates in place is donated; what is only read is not.

// CHECK: func.func @main(%{{\w+}}: tensor<8xf32> {tf.aliasing_output = 0 : i32}, %{{\w+}}: tensor<1xf32>, %{{\w+}}: tensor<i32>, %{{\w+}}: tensor<8xf32>)
func.func @main(%cache: tensor<8xf32>, %new: tensor<1xf32>, %at: tensor<i32>, %table: tensor<8xf32>) -> (tensor<8xf32>, tensor<8x8xf32>) {
  %0 = stablehlo.dynamic_update_slice %cache, %new, %at : (tensor<8xf32>, tensor<1xf32>, tensor<i32>) -> tensor<8xf32>
  %1 = stablehlo.broadcast_in_dim %table, dims = [0] : (tensor<8xf32>) -> tensor<8x8xf32>
  return %0, %1 : tensor<8xf32>, tensor<8x8xf32>
}
