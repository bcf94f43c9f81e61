// RUN: hlopass rewrite %s --donate %S/no_elements.json -o %t/out.mlir
// RUN: hlopass rewrite %s --donate %S/no_elements.json | filecheck %s
// What holds no elements has nothing to reuse; it is left out with a warning.

// CHECK: func.func @main(%{{\w+}}: tensor<0x4xf32>, %{{\w+}}: tensor<4xf32> {tf.aliasing_output = 1 : i32})
func.func @main(%none: tensor<0x4xf32>, %w: tensor<4xf32>) -> (tensor<0x4xf32>, tensor<4xf32>) {
  return %none, %w : tensor<0x4xf32>, tensor<4xf32>
}
