"""Gives results the sharding of the argument whose buffer they reuse."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import jaxlib.mlir.ir as ir

from hlopass import donation_attrs, sharding_attrs
from hlopass.layout import TensorSharding
from hlopass.passes._base import Pass, PassContext
from hlopass.sharded import Dialect


@dataclass(frozen=True)
class ShardResults(Pass):
    """Gives results that follow the sharding of the argument whose buffer they reuse.

    A result that is left open may come out split in another way, and then its buffer is
    another size than the argument's. Which results follow, the spec says; all that it does
    not mention, if it says nothing of results.

    ```mlir
    func.func @main(%w: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}]>,
                                       tf.aliasing_output = 0 : i32}) -> tensor<4xf32>
    // becomes
    func.func @main(...) -> (tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}]>})
    ```
    """

    name: ClassVar[str] = "shard-results"
    verifies: ClassVar[bool] = False

    def run(self, module: ir.Module, context: PassContext) -> bool:
        if context.shard is None:
            return False
        program, spec = context.program, context.shard
        reuses = {
            donation.result.index: donation.argument.index
            for donation in donation_attrs.read(program)
            if donation.result is not None
        }
        resolved = spec.resolve(program.arguments, program.results, reuses)
        open_before = spec.resolve(program.arguments, program.results).results
        known = set(context.diagnostics)
        context.diagnostics += [each for each in resolved.diagnostics if each not in known]
        followed: dict[int, TensorSharding | None] = {
            index: sharding
            for index, sharding in resolved.results.items()
            if sharding is not None
            and open_before[index] is None
            and index not in program.result_shardings
        }
        dialects: list[Dialect] = [each.dialect for each in program.argument_shardings.values()]
        if not followed or not dialects:
            return False
        return sharding_attrs.write(program, spec.mesh, dialects[0], {}, followed)
