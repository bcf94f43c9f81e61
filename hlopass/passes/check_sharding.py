"""Finds shardings that XLA would ignore, change, refuse or crash on."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import ClassVar

import jaxlib.mlir.ir as ir

from hlopass import donation_attrs, sharding_ops
from hlopass.diagnostics import Diagnostic, quoted
from hlopass.passes._base import Pass, PassContext
from hlopass.program import FRONTEND, Program
from hlopass.values import Role


@dataclass(frozen=True)
class CheckSharding(Pass):
    """Finds shardings that XLA would ignore, change, refuse or crash on.

    No verifier reads an `mhlo.sharding`, and `sdy.sharding` is verified when the program is
    compiled, with a stack trace.

    ```mlir
    func.func @main(%w: tensor<4xf32> {mhlo.sharding = "P('data')"}) -> tensor<4xf32>
    // error: argument 0 'w' carries mhlo.sharding = "P('data')": ...
    ```
    """

    name: ClassVar[str] = "check-sharding"
    verifies: ClassVar[bool] = False

    def run(self, module: ir.Module, context: PassContext) -> bool:
        known = set(context.diagnostics)
        found = check(context.program, _accepted(context))
        context.diagnostics += [each for each in found if each not in known]
        return False


def _accepted(context: PassContext) -> Collection[tuple[Role, int]]:
    """The arguments and results that may be uneven: the spec says so, or is to be asked first."""
    program, spec = context.program, context.shard
    if spec is None:
        return ()
    if spec.spec.allow_uneven:
        return {(value.role, value.index) for value in (*program.arguments, *program.results)}
    resolved = spec.resolve(program.arguments, program.results)
    found: set[tuple[Role, int]] = {("argument", index) for index in resolved.arguments}
    return found | {("result", index) for index, each in resolved.results.items() if each}


def check(program: Program, uneven: Collection[tuple[Role, int]] = ()) -> list[Diagnostic]:
    """Everything wrong with a program's shardings, errors and warnings.

    `uneven`: what may be split over axes that do not divide it, by role and index.
    """
    found = _of_the_round_trip(program)
    if not program.is_sharded:
        return found
    from hlopass import sharding_attrs, sharding_checks
    from hlopass.sharding_plan import mixed

    arguments, results = program.argument_shardings, program.result_shardings
    carried = [(program.arguments[index], sharding) for index, sharding in arguments.items()]
    carried += [(program.results[index], sharding) for index, sharding in results.items()]
    used = sharding_attrs.dialects(program.module)
    return [
        *found,
        *([mixed(used, program.where)] if len(used) > 1 else []),
        *_names_that_kill(program),
        *_of_operations(program),
        *sharding_checks.unreadable(carried),
        *sharding_checks.uneven(
            [each for each in carried if (each[0].role, each[0].index) not in uneven]
        ),
        *sharding_checks.devices(carried, program.partitions, program.where),
        *(
            sharding_checks.arguments_alone(carried, used, program.where)
            if program.source.origin is None  # HLO goes to GSPMD
            else ()
        ),
        *sharding_checks.pairs(donation_attrs.read(program), arguments, results),
    ]


def _of_the_round_trip(program: Program) -> list[Diagnostic]:
    """Shardings that Shardy keeps among frontend attributes, without the meshes they name."""
    attributes = program.module.operation.attributes
    if FRONTEND in attributes and "xla.sdy.meshes" in str(attributes[FRONTEND]):
        return []
    found = []
    for argument, attrs in zip(program.arguments, program.argument_attributes(), strict=True):
        if FRONTEND in attrs and "xla.sdy.sharding" in str(attrs[FRONTEND]):
            message = f"{argument} carries xla.sdy.sharding, and the module no xla.sdy.meshes"
            hint = "the compiler dies of it: remove it, or add the module's meshes"
            found.append(Diagnostic("sharding-no-mesh", message, argument.where, help=hint))
    return found


def _names_that_kill(program: Program) -> list[Diagnostic]:
    """Axes whose names MLIR escapes, which XLA cannot read back."""
    names = {name for mesh in program.meshes.values() for name, _ in mesh.axes}
    bad = sorted(name for name in names if not name.isascii() or "\\" in name)
    if not bad:
        return []
    message = f"the compiler dies of the name of mesh axis {quoted(bad[0])}"
    hint = "name axes in printable ASCII without a backslash"
    return [Diagnostic("axis-name", message, program.where, help=hint)]


def _of_operations(program: Program) -> list[Diagnostic]:
    """What is said of shardings of operations that XLA drops."""
    found = sharding_ops.ignored(program.module)
    if not found:
        return []
    count = f"{len(found)} operations carry" if len(found) > 1 else f"{found[0].name} carries"
    message = f"{count} sdy.sharding, which XLA drops before it partitions"
    hint = "sdy.sharding_constraint on the result is what it goes by"
    where, _ = program.place(found[0])
    return [Diagnostic("sharding-on-operation", message, where, "warning", help=hint)]
