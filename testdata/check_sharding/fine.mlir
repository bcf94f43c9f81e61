// RUN: hlopass rewrite %s --pipeline check-sharding | filecheck %s
// Nothing is wrong with these: replicated, a part of an axis, several axes.

// CHECK: func.func @main
module attributes {mhlo.num_partitions = 8 : i32} {
  sdy.mesh @mesh = <["x"=4, "y"=2]>
  func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %b: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x":(1)2, ?}]>}, %c: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y", "x"}]>}) -> tensor<8xf32> {
    return %a : tensor<8xf32>
  }
}
