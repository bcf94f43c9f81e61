// RUN: hlopass rewrite %s --pipeline convert-sharding -o %t/out.mlir
// Shardings of different numbers of devices are no one program's.

func.func @main(%a: tensor<8xf32> {mhlo.sharding = "{devices=[2]<=[2]}"} loc("a"), %b: tensor<8xf32> {mhlo.sharding = "{devices=[4]<=[4]}"} loc("b")) -> tensor<8xf32> {
  return %a : tensor<8xf32>
}
