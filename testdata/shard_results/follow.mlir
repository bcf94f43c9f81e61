// RUN: hlopass rewrite %s --shard %S/follow.yaml --pipeline shard-args,shard-results,check-sharding | filecheck %s
// A donation that the program carries already decides what the result follows.

// CHECK: func.func @main(
// CHECK-SAME: -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}]>}, tensor<8xf32>)
func.func @main(%w: tensor<8xf32> {tf.aliasing_output = 0 : i32} loc("w"), %x: tensor<8xf32> loc("x")) -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = stablehlo.add %w, %x : tensor<8xf32>
  %1 = stablehlo.multiply %x, %x : tensor<8xf32>
  return %0, %1 : tensor<8xf32>, tensor<8xf32>
}
