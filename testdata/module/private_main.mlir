// RUN: hlopass rewrite %s --donate %S/first.json -o %t/out.mlir
// RUN: hlopass rewrite %s --donate %S/first.json | filecheck %s
// XLA removes a private `main`: it is rewritten as it is, with a warning.

// CHECK: func.func private @main(%arg0: tensor<4xf32> {tf.aliasing_output = 0 : i32})
func.func private @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  return %arg0 : tensor<4xf32>
}
