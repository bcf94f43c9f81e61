"""Removes every donation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import jaxlib.mlir.ir as ir

from hlopass import donation_attrs
from hlopass.passes._base import Pass, PassContext


@dataclass(frozen=True)
class StripDonation(Pass):
    """Removes every donation: of the entry's arguments, and the module's alias table.

    ```mlir
    func.func @main(%w: tensor<4xf32> {tf.aliasing_output = 0 : i32}) -> tensor<4xf32>
    // becomes
    func.func @main(%w: tensor<4xf32>) -> tensor<4xf32>
    ```
    """

    name: ClassVar[str] = "strip-donation"
    verifies: ClassVar[bool] = False

    def run(self, module: ir.Module, context: PassContext) -> bool:
        return donation_attrs.strip(context.program)
