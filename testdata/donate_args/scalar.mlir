// RUN: hlopass rewrite %s --donate %S/scalar.json | filecheck %s
// A scalar has a buffer like any other.

// CHECK: func.func @main(%{{\w+}}: tensor<i32> {tf.aliasing_output = 0 : i32})
func.func @main(%step: tensor<i32>) -> tensor<i32> {
  %0 = stablehlo.constant dense<1> : tensor<i32>
  %1 = stablehlo.add %step, %0 : tensor<i32>
  return %1 : tensor<i32>
}
