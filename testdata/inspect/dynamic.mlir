// RUN: hlopass inspect %s --devices 2
// RUN: hlopass inspect %s --devices 2 --picture x

func.func public @main(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  return %x : tensor<?x4xf32>
}
