// RUN: hlopass rewrite %s --check
// What the compiler ignores in silence, refuses or dies of.

module attributes {mhlo.num_partitions = 4 : i32} {
  func.func @main(%a: tensor<8xf32> {mhlo.sharding = "P('x', None)"} loc("a"),
                  %b: tensor<8xf32> {mhlo.sharding = "{manual}"} loc("b"),
                  %c: tensor<8xf32> {mhlo.sharding = "{devices=[2,2]<=[4]}"} loc("c"),
                  %d: tensor<8xf32> {mhlo.sharding = "{devices=[8]<=[8]}"} loc("d"),
                  %e: tensor<6xf32> {mhlo.sharding = "{devices=[4]<=[4]}"} loc("e"),
                  %f: tensor<8xf32> {mhlo.sharding = "{unknown}"} loc("f"),
                  %g: tensor<8xf32> {mhlo.frontend_attributes = {xla.sdy.sharding = "#sdy.sharding<@mesh, [{\22x\22}]>"}} loc("g")) -> tensor<8xf32> {
    return %a : tensor<8xf32>
  }
}
