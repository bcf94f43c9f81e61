// RUN: hlopass rewrite %s --entry other --donate %S/first.json -o %t/out.mlir
// RUN: hlopass rewrite %s --entry other --donate %S/first.json | filecheck %s
// `--entry` beats `main`, and the warning says that both are there.

// CHECK: func.func @main(%arg0: tensor<4xf32>)
// CHECK: func.func @other(%arg0: tensor<4xf32> {tf.aliasing_output = 0 : i32})
func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  return %arg0 : tensor<4xf32>
}
func.func @other(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  return %arg0 : tensor<4xf32>
}
