// RUN: hlopass rewrite %s -o %t/out.mlir
// RUN: hlopass rewrite %s | filecheck %s
// Donations of a function that is not the entry mean nothing to XLA: a warning, and they
// stay where they are.

// CHECK: func.func public @main(%arg0: tensor<4xf32> {tf.aliasing_output = 0 : i32})
// CHECK: func.func private @_wrapped(%arg0: tensor<4xf32> {tf.aliasing_output = 0 : i32})
module {
  func.func public @main(%arg0: tensor<4xf32> {tf.aliasing_output = 0 : i32}) -> tensor<4xf32> {
    %0 = call @_wrapped(%arg0) : (tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  func.func private @_wrapped(%arg0: tensor<4xf32> {tf.aliasing_output = 0 : i32}) -> tensor<4xf32> {
    return %arg0 : tensor<4xf32>
  }
  func.func private @_other(%arg0: tensor<4xf32> {jax.buffer_donor = true}, %arg1: tensor<4xf32> {jax.buffer_donor = true}) -> tensor<4xf32> {
    return %arg0 : tensor<4xf32>
  }
}
