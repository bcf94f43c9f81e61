// RUN: hlopass rewrite %s
// Where the argument's location is its name, the place is that of the function.

module {
  func.func @main(%arg0: tensor<4xf32> {tf.aliasing_output = 1 : i32} loc("state['w']")) -> tensor<4xf32> {
    return %arg0 : tensor<4xf32>
  }
}
