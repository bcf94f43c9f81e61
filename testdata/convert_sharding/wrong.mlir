// RUN: hlopass rewrite %s --pipeline "convert-sharding{to=pmap}"

func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {
  return %a : tensor<8xf32>
}
