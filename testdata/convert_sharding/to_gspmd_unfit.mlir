// RUN: hlopass rewrite %s --pipeline "convert-sharding{to=gspmd}" -o %t/out.mlir
// What has no counterpart in GSPMD is an error.

module {
  sdy.mesh @mesh = <["x"=2]>
  func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"x"}>} loc("a"),
                  %b: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>} loc("b")) -> tensor<8xf32> {
    sdy.sharding_group %a group_id=0 : tensor<8xf32>
    %0 = sdy.manual_computation(%b) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%c: tensor<4xf32>) {
      sdy.return %c : tensor<4xf32>
    } : (tensor<8xf32>) -> tensor<8xf32>
    return %0 : tensor<8xf32>
  }
}
