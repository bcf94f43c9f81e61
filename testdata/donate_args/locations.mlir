// RUN: hlopass rewrite %s --donate %S/locations.json | filecheck %s
// Locations of the input stay: those of arguments, which are their names, and those of
// operations. Where the input has none, none are made up.

// CHECK: func.func @main(%arg0: tensor<4xf32> {tf.aliasing_output = 0 : i32} loc("params['w']"), %arg1: tensor<4xf32> loc("batch"))
// CHECK-NEXT: stablehlo.add %arg0, %arg1 : tensor<4xf32> loc(#[[ADD:loc[0-9]*]])
// CHECK: #[[LINE:loc[0-9]*]] = loc("model.py":10:4)
// CHECK: #[[ADD]] = loc("add"(#[[LINE]]))
// CHECK-NOT: "-"
func.func @main(%arg0: tensor<4xf32> loc("params['w']"), %arg1: tensor<4xf32> loc("batch")) -> tensor<4xf32> {
  %0 = stablehlo.add %arg0, %arg1 : tensor<4xf32> loc("add"("model.py":10:4))
  return %0 : tensor<4xf32>
}
