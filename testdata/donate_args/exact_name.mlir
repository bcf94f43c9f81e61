// RUN: hlopass rewrite %s --donate %S/exact_name.json | filecheck %s
// A string that is an argument's name means that one, whatever it looks like: brackets
// make no character class, and `ema*` is a name here and no glob.

// CHECK: func.func @main(%arg0: tensor<4xf32> {tf.aliasing_output = 0 : i32} loc("state['w']"), %arg1: tensor<4xf32> loc("statew"), %arg2: tensor<2xf32> {tf.aliasing_output = 1 : i32} loc("ema*"), %arg3: tensor<2xf32> loc("ema1"))
func.func @main(%arg0: tensor<4xf32> loc("state['w']"), %arg1: tensor<4xf32> loc("statew"), %arg2: tensor<2xf32> loc("ema*"), %arg3: tensor<2xf32> loc("ema1")) -> (tensor<4xf32>, tensor<2xf32>) {
  %0 = stablehlo.add %arg0, %arg1 : tensor<4xf32>
  %1 = stablehlo.add %arg2, %arg3 : tensor<2xf32>
  return %0, %1 : tensor<4xf32>, tensor<2xf32>
}
