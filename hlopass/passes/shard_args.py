"""Writes the shardings of a spec."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import jaxlib.mlir.ir as ir

from hlopass import sharding_attrs
from hlopass.diagnostics import Diagnostic, together
from hlopass.layout import TensorSharding
from hlopass.passes._base import Pass, PassContext
from hlopass.program import Program, meshes_of
from hlopass.shard_resolve import Resolved
from hlopass.sharding_plan import dialect_of, settle


@dataclass(frozen=True)
class ShardArgs(Pass):
    """Writes the shardings that a spec asks for, of arguments and of results.

    Results that follow the argument whose buffer they reuse are for `shard-results`, after
    donation. With `{"mesh": {"data": 2}, "args": {"w": ["data"]}}`:

    ```mlir
    func.func @main(%w: tensor<4xf32>) -> tensor<4xf32>
    // becomes
    sdy.mesh @mesh = <["data"=2]>
    func.func @main(%w: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}]>})
      -> tensor<4xf32>
    ```
    """

    name: ClassVar[str] = "shard-args"
    verifies: ClassVar[bool] = False

    def run(self, module: ir.Module, context: PassContext) -> bool:
        if context.shard is None:
            return False
        program, spec = context.program, context.shard
        label = spec.spec.label
        used = sharding_attrs.dialects(module)
        if not used and program.source.origin is not None and spec.spec.dialect == "same":
            used = {"gspmd": "HLO"}
        dialect = dialect_of(spec.spec.dialect, used, program.where, label)
        if isinstance(dialect, Diagnostic):
            context.emit(dialect)
            return False
        resolved = spec.resolve(program.arguments, program.results)
        context.diagnostics += resolved.diagnostics
        carried = (program.argument_shardings, program.result_shardings)
        existing = context.existing
        arguments = settle(program.arguments, resolved.arguments, carried[0], dialect, existing)
        results = settle(program.results, resolved.results, carried[1], dialect, existing)
        context.diagnostics += arguments.diagnostics + results.diagnostics
        context.diagnostics += _partitions(context)
        if dialect == "shardy":
            context.diagnostics += _split_less(program, resolved)
            context.diagnostics += _dynamic(program, resolved)
        if any(found.severity == "error" for found in context.diagnostics):
            return False
        before = set(program.meshes)
        changed = sharding_attrs.write(
            program, spec.mesh, dialect, arguments.shardings, results.shardings
        )
        context.diagnostics += _other_meshes(context, before)
        return changed


def _dynamic(program: Program, resolved: Resolved) -> Sequence[Diagnostic]:
    """Shardings of what has a dynamic shape, of which Shardy's propagation aborts."""
    asked = [(program.arguments[i], each) for i, each in resolved.arguments.items()]
    asked += [(program.results[i], each) for i, each in resolved.results.items() if each]
    found = []
    for value, sharding in asked:
        if value.shape is None and not sharding.is_replicated:
            message = f"cannot shard {value} with Shardy, which works on static shapes only"
            notes = (f"{value.role} is {value.described()}",)
            hint = "dialect: gspmd takes it"
            found.append(Diagnostic("shard-dynamic", message, value.where, notes=notes, help=hint))
    return together(found, f"cannot shard {len(found)} tensors of dynamic shape with Shardy")


def _split_less(program: Program, resolved: Resolved) -> Sequence[Diagnostic]:
    """Uneven shardings that are allowed, and that Shardy does not make as they are asked for."""
    found = []
    for values, asked in (
        (program.arguments, resolved.arguments),
        (program.results, resolved.results),
    ):
        for index, sharding in asked.items():
            shape = values[index].shape
            if sharding is None or shape is None or sharding.even(shape) == sharding:
                continue
            message = f"{values[index]} is asked to be split into {_blocks(sharding)} blocks"
            message += f", and Shardy will split it into {_blocks(sharding.even(shape))}"
            note = "Shardy splits a dimension only as far as axes divide it; GSPMD pads"
            where = values[index].where
            found.append(Diagnostic("shard-less", message, where, "warning", notes=(note,)))
    return together(found, f"{len(found)} tensors will be split less than the spec asks for")


def _blocks(sharding: TensorSharding) -> str:
    return "x".join(map(str, sharding.counts))


def _other_meshes(context: PassContext, before: set[str]) -> list[Diagnostic]:
    """A finding where the program goes on using a mesh of other sizes beside the spec's."""
    program, spec = context.program, context.shard
    meshes = meshes_of(program.module)
    others = [name for name in meshes if name in before]
    if spec is None or not others or before.issuperset(meshes):
        return []
    name = others[0]
    message = f"{_user(context, name)} sharded over mesh @{name} ({meshes[name]}), and the spec"
    message += f" over {spec.mesh}: Shardy takes them for different devices"
    hint = "bind the spec to the same sizes, or start from strip-sharding: --pipeline "
    hint += "strip-sharding,shard-args,donate-args,shard-results,check-donation,check-sharding"
    return [Diagnostic("mesh-differs", message, program.where, help=hint)]


def _user(context: PassContext, mesh: str) -> str:
    """What is still sharded over a mesh of the module, after the spec's were written."""
    program = context.program
    tables = (program.argument_shardings, program.result_shardings)
    for values, carried in zip((program.arguments, program.results), tables, strict=True):
        for value in values:
            if value.index in carried and f"@{mesh}," in carried[value.index].text:
                return f"{value}, which the spec does not name, is"
    return "an operation inside the program is"


def _partitions(context: PassContext) -> list[Diagnostic]:
    """A finding where the program is made for another number of devices than the mesh has."""
    program, spec = context.program, context.shard
    if spec is None or program.partitions in (1, spec.mesh.size) or context.existing == "replace":
        return []
    message = f"the program is partitioned for {program.partitions} devices"
    message += f", and mesh {spec.mesh} has {spec.mesh.size}"
    hint = "bind the spec to a mesh of that size, or give --existing replace"
    return [Diagnostic("mesh-devices", message, program.where, help=hint)]
