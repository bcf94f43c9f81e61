"""For how many devices a program is compiled, and how XLA's partitioner is told to split it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import jaxlib.mlir.ir as ir

from hlopass import sharding_attrs
from hlopass.diagnostics import Diagnostic, HlopassError
from hlopass.passes import PassContext, check_sharding
from hlopass.passes.strip_sharding import StripSharding
from hlopass.program import REPLICAS, Program, meshes_of

MOST_DEVICES = 512
"""As many devices as a CPU client is made with; each has its own threads."""


@dataclass(frozen=True)
class Partitioning:
    """How a program is split over devices.

    `shardy`: by Shardy rather than GSPMD. `open_arguments`, `open_results`: for each, whether
    propagation decides how it is split; XLA leaves it whole otherwise.
    """

    devices: int
    shardy: bool
    open_arguments: tuple[bool, ...]
    open_results: tuple[bool, ...]


def partitioning(program: Program, devices: int) -> Partitioning | None:
    """How a program is split over so many devices; None for one.

    Each dialect needs the partitioner that reads it. What carries no sharding is left to
    propagation, as `jax.jit` does.
    """
    if devices == 1:
        return None
    mine, its = program.argument_shardings, program.result_shardings
    return Partitioning(
        devices,
        "gspmd" not in sharding_attrs.dialects(program.module),
        tuple(v.index not in mine or mine[v.index].open for v in program.arguments),
        tuple(v.index not in its or its[v.index].open for v in program.results),
    )


def devices(program: Program, asked: int | None) -> tuple[int, list[Diagnostic]]:
    """On how many devices a program is verified, with warnings; its own number by default.

    Raises HlopassError where it is for another number than is asked, or its shardings are
    what XLA refuses, changes or dies of.
    """
    mine = own(program)
    count = mine if asked is None else asked
    found = [] if count == 1 else _checked(program)
    if count not in (1, mine) and mine > 1:
        message = f"the program is sharded over {mine} devices, and {count} are given"
        hint = f"--devices {mine}, or --devices 1 to verify it unsplit"
        found.append(Diagnostic("mesh-devices", message, program.where, help=hint))
    elif count > MOST_DEVICES:
        message = f"{count} devices are more than the {MOST_DEVICES} that the CPU is divided into"
        hint = "--devices 1 verifies it unsplit"
        found.append(Diagnostic("mesh-devices", message, program.where, help=hint))
    if any(each.severity == "error" for each in found):
        raise HlopassError(found)
    return count, [*found, *_unlike(program, mine, count)]


def own(program: Program) -> int:
    """The number of devices that a program is for."""
    shardings = (*program.argument_shardings.values(), *program.result_shardings.values())
    named = [each.devices or 1 for each in shardings]
    meshes = [mesh.size for mesh in meshes_of(program.module).values()]
    return max([program.partitions, *named, *meshes])


def _checked(program: Program) -> list[Diagnostic]:
    """What is wrong with a program's shardings; what is uneven is accepted with a warning."""
    return [
        replace(each, severity="warning", help=None) if each.code == "shard-uneven" else each
        for each in check_sharding.check(program)
    ]


def _unlike(program: Program, mine: int, count: int) -> list[Diagnostic]:
    """Warnings where a program is not verified as it is meant to run."""
    attributes = program.module.operation.attributes
    replicas = 1
    if REPLICAS in attributes and isinstance(attributes[REPLICAS], ir.IntegerAttr):
        replicas = ir.IntegerAttr(attributes[REPLICAS]).value
    found = []
    if mine > count:
        message = f"the program is for {mine} devices, and is verified on one, unsplit"
        found.append(Diagnostic("not-partitioned", message, program.where, "warning"))
    if replicas > 1:
        message = f"the program is for {replicas} replicas, and one of them is verified"
        found.append(Diagnostic("not-replicated", message, program.where, "warning"))
    if mine == 1 < count:
        message = f"nothing in the program is sharded: each of {count} devices does all of it"
        found.append(Diagnostic("nothing-sharded", message, program.where, "warning"))
    return found


def strip(program: Program) -> list[Diagnostic]:
    """Makes a program one for a single device; or says why it cannot be, and leaves it."""
    context = PassContext(program)
    StripSharding().run(program.module, context)
    return context.diagnostics
