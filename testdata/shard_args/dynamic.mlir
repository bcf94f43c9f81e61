// RUN: hlopass rewrite %s --shard %S/dynamic.yaml
// RUN: hlopass rewrite %s --shard %S/dynamic_gspmd.yaml
// Shardy aborts on a dynamic shape; GSPMD takes it.
func.func public @main(%w: tensor<?x16xf32>) -> tensor<?x16xf32> {
  return %w : tensor<?x16xf32>
}
