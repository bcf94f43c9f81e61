// RUN: hlopass rewrite %s --entry "train step" --rename-entry --donate %S/first.json | filecheck %s
// A function may have any name.

// CHECK: func.func @main(%arg0: tensor<4xf32> {tf.aliasing_output = 0 : i32})
func.func @"train step"(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  return %arg0 : tensor<4xf32>
}
