// RUN: hlopass rewrite %s --donate %S/regex.json | filecheck %s
// `re:` must match the whole name: `layer1.bias` and `my_layer1.w` are not meant.

// CHECK: func.func @main(%{{[\w.]+}}: tensor<4xf32> {tf.aliasing_output = 0 : i32}, %{{[\w.]+}}: tensor<4xf32>, %{{[\w.]+}}: tensor<4xf32> {tf.aliasing_output = 1 : i32}, %{{[\w.]+}}: tensor<4xf32>)
func.func @main(%layer1.w: tensor<4xf32>, %layer1.bias: tensor<4xf32>, %layer12.b: tensor<4xf32>, %my_layer1.w: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  return %layer1.w, %layer12.b, %layer1.bias : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
