"""Donates arguments that a result updates in place, as data flow shows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import jaxlib.mlir.ir as ir

from hlopass.passes import _automatic
from hlopass.passes._base import Pass, PassContext


@dataclass(frozen=True)
class AliasByDataflow(Pass):
    """Donates arguments that a result updates in place, as data flow shows.

    The result is computed from the argument element by element, or is the argument with a
    part replaced, and nothing else reads the argument after. Reuse is then free. What is
    only read is never donated.

    ```mlir
    func.func @main(%cache: tensor<8xf32>, %new: tensor<1xf32>, %at: tensor<i32>)
        -> tensor<8xf32> {
      %0 = stablehlo.dynamic_update_slice %cache, %new, %at : ...
    // becomes
    func.func @main(%cache: tensor<8xf32> {tf.aliasing_output = 0 : i32}, ...
    ```
    """

    name: ClassVar[str] = "alias-by-dataflow"
    verifies: ClassVar[bool] = False

    def run(self, module: ir.Module, context: PassContext) -> bool:
        return _automatic.add("dataflow", context)
