// RUN: hlopass rewrite %s --donate %S/empty_exact.json -o %t/out.mlir
// What holds no elements is a warning, even where it is named with its result.

func.func @main(%none: tensor<0xf32>) -> tensor<0xf32> {
  return %none : tensor<0xf32>
}
