// RUN: hlopass rewrite %s --pipeline strip-donation --check
// Where there is no donation, nothing changes.

func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  return %a : tensor<4xf32>
}
