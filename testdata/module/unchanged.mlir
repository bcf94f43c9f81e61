// RUN: hlopass rewrite %s --check
// RUN: hlopass rewrite %s | filecheck %s
// Where nothing is asked the input comes out as it is, layout and comments included.

// CHECK:      // Where nothing is asked
// CHECK:      func.func    @main( %x  :  tensor<4xf32> )
// CHECK-NEXT:   // spaced on purpose
func.func    @main( %x  :  tensor<4xf32> ) -> tensor<4xf32> {
  // spaced on purpose
  return %x : tensor<4xf32>
}
