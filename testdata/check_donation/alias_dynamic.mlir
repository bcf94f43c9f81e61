// RUN: hlopass rewrite %s

func.func @main(%w: tensor<?x4xf32> {tf.aliasing_output = 0 : i32}, %m: tensor<4xf32> {tf.aliasing_output = 1 : i32}) -> (tensor<?x4xf32>, tensor<?xf32>) {
  %0 = "vendor.grow"(%m) : (tensor<4xf32>) -> tensor<?xf32>
  return %w, %0 : tensor<?x4xf32>, tensor<?xf32>
}
