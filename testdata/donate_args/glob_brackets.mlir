// RUN: hlopass rewrite %s --donate %S/glob_brackets.json | filecheck %s
// In a glob `*` is any characters; brackets and quotes stand for themselves.

// CHECK: func.func @main(%arg0: tensor<4xf32> {tf.aliasing_output = 0 : i32} loc("state['params']['w']"), %arg1: tensor<2xf32> {tf.aliasing_output = 2 : i32} loc("state['params']['b']"), %arg2: tensor<4xf32> loc("state['momentum']['w']"), %arg3: tensor<4xf32> loc("params"))
func.func @main(%arg0: tensor<4xf32> loc("state['params']['w']"), %arg1: tensor<2xf32> loc("state['params']['b']"), %arg2: tensor<4xf32> loc("state['momentum']['w']"), %arg3: tensor<4xf32> loc("params")) -> (tensor<4xf32>, tensor<4xf32>, tensor<2xf32>) {
  return %arg0, %arg2, %arg1 : tensor<4xf32>, tensor<4xf32>, tensor<2xf32>
}
