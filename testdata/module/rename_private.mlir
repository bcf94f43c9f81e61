// RUN: hlopass rewrite %s --rename-entry --donate %S/first.json -o %t/out.mlir
// RUN: hlopass rewrite %s --rename-entry --donate %S/first.json | filecheck %s
// `--rename-entry` makes a private `main` public, and there is nothing to warn of.

// CHECK: func.func public @main(%arg0: tensor<4xf32> {tf.aliasing_output = 0 : i32})
func.func private @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  return %arg0 : tensor<4xf32>
}
