// RUN: hlopass rewrite %s --donate %S/unregistered.json | filecheck %s
// Operations and attributes of dialects that nobody registered pass through.

// CHECK: module attributes {tf.versions = {producer = 12 : i32}, vendor.target = "npu"}
// CHECK: func.func @main(%{{\w+}}: tensor<4xf32> {tf.aliasing_output = 0 : i32, vendor.bank = 3 : i64})
// CHECK-NEXT: "vendor.fused_norm"(%{{\w+}}) {epsilon = 5.000000e-01 : f32} : (tensor<4xf32>) -> tensor<4xf32>
module attributes {tf.versions = {producer = 12 : i32}, vendor.target = "npu"} {
  func.func @main(%x: tensor<4xf32> {vendor.bank = 3}) -> tensor<4xf32> {
    %0 = "vendor.fused_norm"(%x) {epsilon = 0.5 : f32} : (tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
