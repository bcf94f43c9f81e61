// RUN: hlopass rewrite %s --shard %S/pairing.yaml --donate %S/pairing.json | filecheck %s
// RUN: hlopass rewrite %s --donate %S/pairing.json --pairing order -o %t/out.mlir
// What a device holds decides: the shards of `a` are as large as all of `small`, not as those of `b`.

// CHECK: tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}]>, tf.aliasing_output = 1 : i32}
func.func @main(%a: tensor<16xf32> loc("a"), %b: tensor<16xf32> loc("b")) -> (tensor<16xf32> {jax.result_info = "whole"}, tensor<4xf32> {jax.result_info = "small"}) {
  %0 = stablehlo.add %b, %b : tensor<16xf32>
  %1 = stablehlo.slice %b [0:4] : (tensor<16xf32>) -> tensor<4xf32>
  return %0, %1 : tensor<16xf32>, tensor<4xf32>
}
