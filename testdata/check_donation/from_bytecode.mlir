// RUN: hlopass rewrite %s --automatic off --emit bytecode -o %t/in.mlirbc
// RUN: hlopass rewrite %t/in.mlirbc --donate %S/from_bytecode.json
// Bytecode has no lines: the file is named, and the argument.

func.func @main(%arg0: tensor<4xf32> loc("state['w']")) -> (tensor<2xf32> {jax.result_info = "loss"}) {
  %0 = stablehlo.constant dense<0.0> : tensor<2xf32>
  return %0 : tensor<2xf32>
}
