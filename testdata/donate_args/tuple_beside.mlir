// RUN: hlopass rewrite %s --donate %S/tuple_beside.json | filecheck %s
// Tuples and dynamic shapes that nobody donates are no obstacle, and serve no argument.

// CHECK: func.func @main(%{{\w+}}: tuple<tensor<4xf32>>, %{{\w+}}: tensor<?xf32>, %{{\w+}}: tensor<4xf32> {tf.aliasing_output = 2 : i32})
func.func @main(%t: tuple<tensor<4xf32>>, %d: tensor<?xf32>, %w: tensor<4xf32>) -> (tuple<tensor<4xf32>>, tensor<?xf32>, tensor<4xf32>) {
  return %t, %d, %w : tuple<tensor<4xf32>>, tensor<?xf32>, tensor<4xf32>
}
