// RUN: hlopass rewrite %s --donate %S/byte_sizes.json | filecheck %s
// Bytes decide: i1 takes one each, i4 and f4 are packed (rounded up), a complex number is
// two floats, f8 is one byte. The sizes here are 16, 6, 2, 24, 12 and 3.

// CHECK: func.func @main(
// CHECK-SAME: %{{\w+}}: tensor<16xi1> {tf.aliasing_output = 5 : i32}
// CHECK-SAME: %{{\w+}}: tensor<11xi4> {tf.aliasing_output = 4 : i32}
// CHECK-SAME: %{{\w+}}: tensor<4xf4E2M1FN> {tf.aliasing_output = 3 : i32}
// CHECK-SAME: %{{\w+}}: tensor<3xcomplex<f32>> {tf.aliasing_output = 2 : i32}
// CHECK-SAME: %{{\w+}}: tensor<6xbf16> {tf.aliasing_output = 1 : i32}
// CHECK-SAME: %{{\w+}}: tensor<3xf8E4M3FN> {tf.aliasing_output = 0 : i32}
func.func @main(%b: tensor<16xi1>, %n: tensor<11xi4>, %f4: tensor<4xf4E2M1FN>, %c: tensor<3xcomplex<f32>>, %h: tensor<6xbf16>, %f8: tensor<3xf8E4M3FN>) -> (tensor<3xui8>, tensor<3xf32>, tensor<3xf64>, tensor<f16>, tensor<3xi16>, tensor<2xi64>) {
  %0 = stablehlo.constant dense<0> : tensor<3xui8>
  %1 = stablehlo.constant dense<0.0> : tensor<3xf32>
  %2 = stablehlo.constant dense<0.0> : tensor<3xf64>
  %3 = stablehlo.constant dense<0.0> : tensor<f16>
  %4 = stablehlo.constant dense<0> : tensor<3xi16>
  %5 = stablehlo.constant dense<0> : tensor<2xi64>
  return %0, %1, %2, %3, %4, %5 : tensor<3xui8>, tensor<3xf32>, tensor<3xf64>, tensor<f16>, tensor<3xi16>, tensor<2xi64>
}
