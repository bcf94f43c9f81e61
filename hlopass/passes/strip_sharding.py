"""Removes every sharding."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import jaxlib.mlir.ir as ir

from hlopass import sharding_ops
from hlopass.diagnostics import Diagnostic
from hlopass.passes._base import Pass, PassContext
from hlopass.program import (
    ARG_ATTRS,
    FRONTEND,
    GSPMD,
    MESH,
    PARTITIONS,
    RESULT_ATTRS,
    SHARDY,
    Program,
    attribute_dicts,
    set_attribute_dicts,
)

_NAMES = (SHARDY, GSPMD, sharding_ops.RULE)
_REMOVED = (*sharding_ops.CONSTRAINTS, "sdy.propagation_barrier", "sdy.sharding_group", MESH)
_REMOVED_CALLS = (
    sharding_ops.SHARDING_CALL,
    "xla.sdy.FuncResultSharding",
    "xla.sdy.PropagationBarrier",
    "xla.sdy.ShardingGroup",
)
_PARTITIONED = ("mhlo.spmd_output_sharding", "mhlo.spmd_parameters_shardings")


@dataclass(frozen=True)
class StripSharding(Pass):
    """Removes every sharding, of the whole program: what is left is for one device.

    Both dialects go: attributes, constraints, groups, meshes, and what Shardy keeps among
    frontend attributes. A program that is about one device of many inside, as of a
    `shard_map` or with collectives, or of unreduced arguments, is an error, and stays as it is.

    ```mlir
    sdy.mesh @mesh = <["data"=2]>
    func.func @main(%a: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}]>}) -> ... {
      %0 = sdy.sharding_constraint %a <@mesh, [{}]> : tensor<4xf32>
      return %0 : tensor<4xf32>
    // becomes
    func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
      return %a : tensor<4xf32>
    ```
    """

    name: ClassVar[str] = "strip-sharding"

    def run(self, module: ir.Module, context: PassContext) -> bool:
        found = sharding_ops.operations(module)
        if not any(map(_is_sharded, found)):
            return False
        stuck = sharding_ops.outermost([each for each in found if _is_stuck(each)])
        why = "is about one device of many: the program means something else without shardings"
        errors = sharding_ops.findings(context.program, stuck, "sharding-manual", why)
        errors += _partial_sums(context.program)
        context.diagnostics += errors
        if not errors:
            for operation in reversed(found):
                _strip(operation)
            context.program.read_values()
        return not errors


def _partial_sums(program: Program) -> list[Diagnostic]:
    """Errors for arguments and results of which each device holds a part of a sum."""
    tables = (program.argument_shardings, program.result_shardings)
    found = []
    for values, carried in zip((program.arguments, program.results), tables, strict=True):
        for value in values:
            tiles = carried[value.index].tiles if value.index in carried else None
            if tiles is not None and any("unreduced" in group for group in tiles.subgroups):
                message = f"{value} is unreduced: each device holds a part of a sum of it"
                found.append(Diagnostic("sharding-manual", message, value.where))
    return found


def _is_removed(operation: ir.Operation) -> bool:
    """Whether an operation says a sharding and does nothing else."""
    target = sharding_ops.call_target(operation)
    return operation.name in _REMOVED or target in _REMOVED_CALLS


def _is_stuck(operation: ir.Operation) -> bool:
    """Whether an operation means something else without shardings, or nothing at all."""
    if operation.name == "builtin.module":
        return any(name in operation.attributes for name in _PARTITIONED)
    if _is_removed(operation):
        types = [value.type for value in operation.results]
        return bool(types) and types != [value.type for value in operation.operands][:1]
    if operation.name == sharding_ops.CONSTANT:
        return False
    return operation.name.startswith("sdy.") or sharding_ops.is_per_device(operation)


def _is_sharded(operation: ir.Operation) -> bool:
    """Whether there is anything to remove of an operation."""
    attributes = operation.attributes
    if _is_removed(operation) or operation.name.startswith("sdy."):
        return True
    if any(name in attributes for name in _NAMES):
        return True
    if FRONTEND in attributes and sharding_ops.ROUND_TRIP in str(attributes[FRONTEND]):
        return True
    if operation.name == "builtin.module":
        return _partitions(operation) not in (None, 1)
    return operation.name == "func.func" and any(
        attrs != sharding_ops.unsharded(attrs)
        for key in (ARG_ATTRS, RESULT_ATTRS)
        for attrs in attribute_dicts(operation, key, 0)
    )


def _partitions(module: ir.Operation) -> int | None:
    """The number of devices that a module says it is for."""
    if PARTITIONS not in module.attributes:
        return None
    attr = module.attributes[PARTITIONS]
    return ir.IntegerAttr(attr).value if isinstance(attr, ir.IntegerAttr) else None


def _strip(operation: ir.Operation) -> None:
    """Removes an operation that is a sharding, or the shardings of another."""
    if _is_removed(operation):
        sharding_ops.bypass(operation)
        return
    attributes = operation.attributes
    if operation.name == "builtin.module" and _partitions(operation) is not None:
        attributes[PARTITIONS] = ir.IntegerAttr.get(attributes[PARTITIONS].type, 1)
    if operation.name == "func.func":
        for key in (ARG_ATTRS, RESULT_ATTRS):
            dicts = attribute_dicts(operation, key, 0)
            kept = {index: sharding_ops.unsharded(attrs) for index, attrs in enumerate(dicts)}
            set_attribute_dicts(operation, key, len(dicts), kept)
    before = {name: attributes[name] for name in (*_NAMES, FRONTEND) if name in attributes}
    after = sharding_ops.unsharded(before)
    for name in before.keys() - after.keys():
        del attributes[name]
    for name, attr in after.items():
        attributes[name] = attr
    if operation.name == sharding_ops.CONSTANT:
        sharding_ops.plain_constant(operation)
