// RUN: hlopass rewrite %s --emit bytecode -o %t/in.mlirbc
// RUN: hlopass rewrite %t/in.mlirbc --donate %S/bytecode.json --emit text | filecheck %s
// Bytecode keeps names and locations, and is rewritten like text.

// CHECK: func.func @main(%arg0: tensor<4xf32> {tf.aliasing_output = 0 : i32} loc("params['w']"), %arg1: tensor<4xf32> loc("x"))
// CHECK: loc("add"(#{{loc[0-9]*}}))
func.func @main(%arg0: tensor<4xf32> loc("params['w']"), %arg1: tensor<4xf32> loc("x")) -> tensor<4xf32> {
  %0 = stablehlo.add %arg0, %arg1 : tensor<4xf32> loc("add"("model.py":10:4))
  return %0 : tensor<4xf32>
}
