// RUN: hlopass rewrite %s --donate %S/optional_missing.json | filecheck %s
// An optional entry may mean nothing in this program; one manifest serves several.

// CHECK: func.func @main(%{{\w+}}: tensor<4xf32> {tf.aliasing_output = 0 : i32})
func.func @main(%w: tensor<4xf32>) -> tensor<4xf32> {
  return %w : tensor<4xf32>
}
