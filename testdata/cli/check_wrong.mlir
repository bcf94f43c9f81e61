// RUN: hlopass rewrite %s --donate %S/w.json --check
// A mistake is a mistake under `--check` too, and nothing is said of changes.

func.func @main(%w: tensor<4xf32>) -> tensor<8xf32> {
  %0 = stablehlo.constant dense<0.0> : tensor<8xf32>
  return %0 : tensor<8xf32>
}
