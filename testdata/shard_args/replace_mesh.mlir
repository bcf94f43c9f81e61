// A program is moved to another mesh: what follows does so, and the old mesh goes.
// RUN: hlopass rewrite %s --shard %S/replace_mesh.yaml --existing replace --automatic repair
// RUN: hlopass rewrite %s --shard %S/replace_mesh.yaml --automatic repair
module {
  sdy.mesh @mesh = <["data"=4, "model"=2]>
  func.func public @main(%w: tensor<16x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}]>, tf.aliasing_output = 0 : i32}, %b: tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) -> (tensor<16x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}]>}, tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}]>}) {
    %0 = stablehlo.add %w, %w : tensor<16x16xf32>
    %1 = stablehlo.add %b, %b : tensor<16xf32>
    return %0, %1 : tensor<16x16xf32>, tensor<16xf32>
  }
}
