// RUN: hlopass rewrite %s --pipeline convert-sharding
// GSPMD pads six elements to four blocks of two; Shardy makes two blocks of three.

func.func @main(%a: tensor<6xf32> {mhlo.sharding = "{devices=[4]<=[4]}"} loc("a")) -> tensor<6xf32> {
  return %a : tensor<6xf32>
}
