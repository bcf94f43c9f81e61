// RUN: hlopass rewrite %s --rename-entry --check
// RUN: hlopass rewrite %s --rename-entry | filecheck %s
// A `main` without a visibility is public already.

// CHECK: func.func @main(%arg0: tensor<4xf32>)
func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  return %arg0 : tensor<4xf32>
}
