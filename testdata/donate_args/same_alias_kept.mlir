// RUN: hlopass rewrite %s --donate %S/same_alias_kept.json --check
// RUN: hlopass rewrite %s --donate %S/same_alias_kept.json | filecheck %s
// What says the same already is left as it is: XLA reads an index of any integer type.

// CHECK: func.func @main(%arg0: tensor<4xf32> {tf.aliasing_output = 0 : i64}, %arg1: tensor<4xf32> {jax.buffer_donor = true})
func.func @main(%arg0: tensor<4xf32> {tf.aliasing_output = 0 : i64}, %arg1: tensor<4xf32> {jax.buffer_donor = true}) -> tensor<4xf32> {
  return %arg0 : tensor<4xf32>
}
