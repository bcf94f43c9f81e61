// RUN: hlopass rewrite %s

func.func private @prefill(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  return %arg0 : tensor<8xf32>
}
