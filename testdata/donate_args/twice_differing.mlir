// RUN: hlopass rewrite %s --donate %S/twice_differing.json
// Two entries ask for one argument in two ways.

func.func @main(%w: tensor<4xf32>, %m: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  return %w, %m : tensor<4xf32>, tensor<4xf32>
}
