// RUN: hlopass rewrite %s --entry host_callback

func.func @main(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  return %arg0 : tensor<8xf32>
}
func.func private @host_callback(tensor<8xf32>) -> tensor<8xf32>
