// RUN: hlopass rewrite %s --entry decode --donate %S/first.json -o %t/out.mlir
// RUN: hlopass rewrite %s --entry decode --donate %S/first.json | filecheck %s
// `--entry` picks one of several public functions; the others are left alone.

// CHECK: func.func @prefill(%arg0: tensor<8xf32>)
// CHECK: func.func @decode(%arg0: tensor<4xf32> {tf.aliasing_output = 0 : i32})
func.func @prefill(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  return %arg0 : tensor<8xf32>
}
func.func @decode(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  return %arg0 : tensor<4xf32>
}
