// RUN: hlopass rewrite %s --donate %S/generic_form.json | filecheck %s
// The generic form of MLIR is read too; names are those in the block's header.

// CHECK: func.func @main(%{{\w+}}: tensor<4xf32>, %{{\w+}}: tensor<4xf32> {tf.aliasing_output = 0 : i32})
"builtin.module"() ({
  "func.func"() <{function_type = (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>, sym_name = "main"}> ({
  ^bb0(%x: tensor<4xf32>, %cache: tensor<4xf32>):
    "func.return"(%cache) : (tensor<4xf32>) -> ()
  }) : () -> ()
}) : () -> ()
