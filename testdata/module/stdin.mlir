// RUN: hlopass rewrite - --donate %S/first.json < %s | filecheck %s
// `-` is standard input.

// CHECK: func.func @main(%arg0: tensor<4xf32> {tf.aliasing_output = 0 : i32})
func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  return %arg0 : tensor<4xf32>
}
