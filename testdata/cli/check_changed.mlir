// RUN: hlopass rewrite %s --donate %S/w.json --check
// RUN: hlopass rewrite %s --donate %S/w.json --check -o %t/never_written.mlir --emit bytecode
// RUN: hlopass rewrite %t/never_written.mlir
// `--check` writes nothing, and says by its exit status that something would change.

func.func @main(%w: tensor<4xf32>) -> tensor<4xf32> {
  return %w : tensor<4xf32>
}
