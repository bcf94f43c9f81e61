// RUN: hlopass rewrite %s

module {
  module @inner {
    func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
      return %arg0 : tensor<4xf32>
    }
  }
}
