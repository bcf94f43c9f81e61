// RUN: hlopass rewrite %s --donate %S/size_mismatch_kinds.json
// The same number of elements is not the same number of bytes.

func.func @main(%a: tensor<8xi4>, %b: tensor<8xi1>, %c: tensor<8xcomplex<f32>>, %d: tensor<8xf8E5M2>) -> (tensor<8xi8>, tensor<8xi4>, tensor<8xf32>, tensor<8xbf16>) {
  %0 = stablehlo.constant dense<0> : tensor<8xi8>
  %1 = stablehlo.constant dense<0.0> : tensor<8xf32>
  %2 = stablehlo.constant dense<0.0> : tensor<8xbf16>
  return %0, %a, %1, %2 : tensor<8xi8>, tensor<8xi4>, tensor<8xf32>, tensor<8xbf16>
}
