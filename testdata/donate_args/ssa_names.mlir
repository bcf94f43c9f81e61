// REQUIRES: ssa-names
// RUN: hlopass rewrite %s --donate %S/ssa_names.json | filecheck %s
// Where there are no locations an argument's name is that of its SSA value, which stays;
// `%0` and `%arg1` are numbers and no names.

// CHECK: func.func @main(%cache_k: tensor<4xf32> {tf.aliasing_output = 0 : i32}, %arg1: tensor<4xf32>, %layer.0$w: tensor<2xf32> {tf.aliasing_output = 1 : i32})
// CHECK-NEXT: stablehlo.add %cache_k, %arg1
func.func @main(%cache_k: tensor<4xf32>, %0: tensor<4xf32>, %layer.0$w: tensor<2xf32>) -> (tensor<4xf32>, tensor<2xf32>) {
  %1 = stablehlo.add %cache_k, %0 : tensor<4xf32>
  return %1, %layer.0$w : tensor<4xf32>, tensor<2xf32>
}
