// RUN: hlopass rewrite %s --donate %S/twice_agreeing.json | filecheck %s
// An argument that several entries ask for in one way is donated once.

// CHECK: func.func @main(%{{\w+}}: tensor<4xf32> {tf.aliasing_output = 0 : i32})
func.func @main(%w: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = stablehlo.add %w, %w : tensor<4xf32>
  return %0, %0 : tensor<4xf32>, tensor<4xf32>
}
