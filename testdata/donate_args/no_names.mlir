// RUN: hlopass rewrite %s --donate %S/no_names.json
// A program without names: only indices can be meant.

func.func @main(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  return %arg0, %arg1 : tensor<4xf32>, tensor<4xf32>
}
