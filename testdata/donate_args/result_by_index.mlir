// RUN: hlopass rewrite %s --donate %S/result_by_index.json | filecheck %s
// A result that is named is taken, even where an earlier one has the same type.

// CHECK: func.func @main(%{{\w+}}: tensor<8xf32> {tf.aliasing_output = 2 : i32}, %{{\w+}}: tensor<8xf32>)
func.func @main(%cache_k: tensor<8xf32>, %x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %0 = stablehlo.add %cache_k, %x : tensor<8xf32>
  return %x, %x, %0 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}
