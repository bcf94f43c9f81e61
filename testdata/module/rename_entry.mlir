// RUN: hlopass rewrite %s --entry step --rename-entry --donate %S/first.json -o %t/out.mlir
// RUN: hlopass rewrite %s --entry step --rename-entry --donate %S/first.json | filecheck %s
// Every mention of the renamed function follows: calls to it, and attributes.

// CHECK: func.func @main(%arg0: tensor<4xf32> {tf.aliasing_output = 0 : i32})
// CHECK: func.func private @loop(%arg0: tensor<4xf32>)
// CHECK-SAME: vendor.root = @main
// CHECK-NEXT: call @main(%arg0)
// CHECK-NOT: step
func.func @step(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  return %arg0 : tensor<4xf32>
}
func.func private @loop(%arg0: tensor<4xf32>) -> tensor<4xf32> attributes {vendor.root = @step} {
  %0 = call @step(%arg0) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
