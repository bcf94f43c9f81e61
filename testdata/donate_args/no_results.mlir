// RUN: hlopass rewrite %s --donate %S/no_results.json

func.func @main(%w: tensor<4xf32>, %m: tensor<4xf32>) {
  return
}
