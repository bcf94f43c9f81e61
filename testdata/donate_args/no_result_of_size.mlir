// RUN: hlopass rewrite %s --donate %S/no_result_of_size.json
// An i1 takes a byte: the mask has 16 bytes and no result has, though one has 16 elements.

func.func @main(%w: tensor<4xbf16>, %mask: tensor<16xi1>) -> (tensor<4xf64>, tensor<16xbf16>, tensor<?xf32>) {
  %0 = stablehlo.constant dense<0.0> : tensor<4xf64>
  %1 = stablehlo.constant dense<0.0> : tensor<16xbf16>
  %2 = "vendor.unknown_length"() : () -> tensor<?xf32>
  return %0, %1, %2 : tensor<4xf64>, tensor<16xbf16>, tensor<?xf32>
}
