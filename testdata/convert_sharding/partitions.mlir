// RUN: hlopass rewrite %s --pipeline "convert-sharding{to=gspmd}" -o %t/out.mlir
// The module is for another number of devices than its mesh has.

module attributes {mhlo.num_partitions = 4 : i32} {
  sdy.mesh @mesh = <["x"=2]>
  func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>} loc("a")) -> tensor<8xf32> {
    return %a : tensor<8xf32>
  }
}
