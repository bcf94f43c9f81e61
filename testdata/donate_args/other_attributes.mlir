// RUN: hlopass rewrite %s --donate %S/other_attributes.json | filecheck %s
// Other attributes stay: of the module, the function, its arguments and results.

// CHECK: module @step attributes {jax.uses_shape_polymorphism = false, mhlo.num_partitions = 1 : i32}
// CHECK-NEXT: func.func public @main(%arg0: tensor<4xf32> {mhlo.sharding = "{replicated}", my.tag = 7 : i64, tf.aliasing_output = 0 : i32}) -> (tensor<4xf32> {jax.result_info = "result", mhlo.sharding = "{replicated}"}) attributes {my.note = "kept"} {
module @step attributes {jax.uses_shape_polymorphism = false, mhlo.num_partitions = 1 : i32} {
  func.func public @main(%arg0: tensor<4xf32> {mhlo.sharding = "{replicated}", my.tag = 7 : i64}) -> (tensor<4xf32> {jax.result_info = "result", mhlo.sharding = "{replicated}"}) attributes {my.note = "kept"} {
    return %arg0 : tensor<4xf32>
  }
}
