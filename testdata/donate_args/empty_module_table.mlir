// RUN: hlopass rewrite %s --donate %S/empty_module_table.json | filecheck %s
// An empty alias table on the module, as PyTorch/XLA leaves, switches nothing off.

// CHECK: module @IrToHlo.5 attributes {mhlo.cross_program_prefetches = [], mhlo.input_output_alias = [], mhlo.is_dynamic = false}
// CHECK-NEXT: func.func @main(%{{\w+}}: tensor<4xf32> {tf.aliasing_output = 0 : i32})
module @IrToHlo.5 attributes {mhlo.cross_program_prefetches = [], mhlo.input_output_alias = [], mhlo.is_dynamic = false} {
  func.func @main(%p0: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.add %p0, %p0 : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
