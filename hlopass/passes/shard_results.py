"""Gives results the sharding of the argument whose buffer they reuse."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import jaxlib.mlir.ir as ir

from hlopass import donation_attrs, sharding_attrs
from hlopass.diagnostics import Diagnostic, Where, quoted
from hlopass.donation import Donation
from hlopass.passes._base import Pass, PassContext
from hlopass.shard_resolve import Resolved


@dataclass(frozen=True)
class ShardResults(Pass):
    """Gives results that follow the sharding of the argument whose buffer they reuse.

    A result that is left open may come out split in another way, and then its shards are
    another size than the argument's, which XLA refuses. What follows, a spec says: all results
    that it does not mention, if it says nothing of them. Without a spec those follow whose
    donation is asked for.

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
        program = context.program
        if not program.is_sharded:
            return False
        pairs = [
            donation
            for donation in donation_attrs.read(program)
            if donation.result is not None and donation.result.index not in program.result_shardings
        ]
        followed = _asked_for(pairs, context) if context.shard is None else _by_spec(pairs, context)
        reuses = {
            donation.result.index: donation.argument.index
            for donation in followed
            if donation.result is not None and donation.result.shape == donation.argument.shape
        }
        return bool(reuses) and sharding_attrs.follow(program, reuses)


def _asked_for(pairs: list[Donation], context: PassContext) -> list[Donation]:
    """The pairs that this rewriting made or was asked to make."""
    asked = {
        donation.argument.index
        for donation in context.donations
        if donation.origin != "frontend" or donation.chosen
    }
    return [donation for donation in pairs if donation.argument.index in asked]


def _by_spec(pairs: list[Donation], context: PassContext) -> list[Donation]:
    """The pairs whose result the spec has follow; says which of them cannot."""
    program, spec = context.program, context.shard
    assert spec is not None
    reuses = {each.result.index: each.argument.index for each in pairs if each.result is not None}
    resolved = spec.resolve(program.arguments, program.results, reuses)
    found = [*resolved.diagnostics, *_follow_nothing(resolved, context)]
    known = set(context.diagnostics)
    context.diagnostics += [each for each in found if each not in known]
    follows = {index for indices in resolved.follows.values() for index in indices}
    return [each for each in pairs if each.result is not None and each.result.index in follows]


def _follow_nothing(resolved: Resolved, context: PassContext) -> list[Diagnostic]:
    """The patterns by which results follow of which none reuses an argument."""
    assert context.shard is not None
    label, results = context.shard.spec.label, context.program.results
    reusing = {
        each.result.index
        for each in donation_attrs.read(context.program)
        if each.result is not None
    }
    found = []
    for entry, indices in resolved.follows.items():
        if entry.optional or reusing.intersection(indices):
            continue
        message = f"by pattern {quoted(entry.selector)}, {results[indices[0]]} follows the argument"
        message += " that it reuses, and it reuses none: it is left open"
        if len(indices) > 1:
            message = f"by pattern {quoted(entry.selector)}, {len(indices)} results follow the"
            message += " arguments that they reuse, and they reuse none: they are left open"
        hint = "donate arguments, or write a sharding; optional: true says that it is meant"
        where = Where(label, pointer=entry.asked_at)
        found.append(Diagnostic("follow-nothing", message, where, "warning", help=hint))
    return found
