// RUN: hlopass rewrite %s -o %t/out.mlir
// RUN: hlopass rewrite %s | filecheck %s
// There is no module attribute for donors; XLA ignores this one.

// CHECK: module attributes {mhlo.buffer_donor = [0]} {
module attributes {mhlo.buffer_donor = [0]} {
  func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
    return %arg0 : tensor<4xf32>
  }
}
