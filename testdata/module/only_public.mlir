// RUN: hlopass rewrite %s --donate %S/first.json -o %t/out.mlir
// RUN: hlopass rewrite %s --donate %S/first.json | filecheck %s
// Without a `main` the only public function is the entry, with a warning.

// CHECK: func.func private @helper(%arg0: tensor<4xf32>)
// CHECK: func.func @decode_step(%arg0: tensor<4xf32> {tf.aliasing_output = 0 : i32})
func.func private @helper(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  return %arg0 : tensor<4xf32>
}
func.func @decode_step(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @helper(%arg0) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
