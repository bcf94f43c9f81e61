// RUN: hlopass rewrite %s --pipeline strip-sharding --check
// Where there is no sharding, nothing changes, whatever else there is.

func.func @main(%a: tensor<4xf32> {tf.aliasing_output = 0 : i32}) -> (tensor<4xf32>, tensor<ui32>) {
  %0 = stablehlo.partition_id : tensor<ui32>
  return %a, %0 : tensor<4xf32>, tensor<ui32>
}
