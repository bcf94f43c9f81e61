// RUN: hlopass rewrite %s --donate %S/mhlo.json | filecheck %s
// MHLO is read and written as well as StableHLO.

// CHECK: func.func @main(%{{\w+}}: tensor<4xf32> {tf.aliasing_output = 0 : i32})
// CHECK-NEXT: mhlo.add
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = mhlo.add %x, %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
