"""Donates arguments whose next value is a result, as their names say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import jaxlib.mlir.ir as ir

from hlopass.passes import _automatic
from hlopass.passes._base import Pass, PassContext


@dataclass(frozen=True)
class AliasByName(Pass):
    """Donates arguments whose next value is a result, as their names say.

    A result's name is an argument's when both have the same path and their roots agree
    once words such as `new` and `out` are taken off: `state['w']` and `result[0]['w']`,
    `params.w` and `new_params.w`, `cache_k` and `cache_k_out`. The types must be equal,
    and neither may have another such mate. What is donated already stays.

    ```mlir
    func.func @main(%cache: tensor<4xf32>) -> (tensor<4xf32> {jax.result_info = "new_cache"})
    // becomes
    func.func @main(%cache: tensor<4xf32> {tf.aliasing_output = 0 : i32})
        -> (tensor<4xf32> {jax.result_info = "new_cache"})
    ```
    """

    name: ClassVar[str] = "alias-by-name"
    verifies: ClassVar[bool] = False

    def run(self, module: ir.Module, context: PassContext) -> bool:
        return _automatic.add("names", context)
