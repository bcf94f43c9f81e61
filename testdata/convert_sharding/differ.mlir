// RUN: hlopass rewrite %s --pipeline convert-sharding -o %t/out.mlir
// RUN: hlopass rewrite %s --pipeline "convert-sharding{to=gspmd}" -o %t/out.mlir
// One argument with two shardings that are not the same.

module {
  sdy.mesh @mesh = <["x"=2]>
  func.func @main(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>, mhlo.sharding = "{devices=[1,2]<=[2]}"} loc("a")) -> tensor<8x8xf32> {
    return %a : tensor<8x8xf32>
  }
}
