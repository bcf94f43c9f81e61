"""What must be done to a program, or said of it, before it is compiled and run."""

from __future__ import annotations

import re

import jaxlib.mlir.ir as ir

from hlopass.diagnostics import Diagnostic, HlopassError, Where
from hlopass.entry import MAIN, functions_of, rename_to_main
from hlopass.jaxlib_compat import initialize_lapack
from hlopass.program import PARTITIONS, REPLICAS, Program

_AXIS_SIZE = re.compile(r'"=(\d+)')


def tuples(program: Program) -> list[Diagnostic]:
    """A finding for each tuple that goes in or out.

    XLA flattens tuples, or refuses them: either way no index means the same any more.
    """
    hint = "pass its tensors one by one"
    return [
        Diagnostic(
            "tuple-type",
            f"{value} is a tuple: only tensors go in and out of a program",
            value.where,
            help=hint,
        )
        for value in (*program.arguments, *program.results)
        if value.type.startswith("tuple<")
    ]


def partitions(program: Program) -> list[Diagnostic]:
    """A warning where a program is meant for several devices: it is run on one, unsplit."""
    attributes = program.module.operation.attributes
    counts = [
        ir.IntegerAttr(attributes[name]).value
        for name in (PARTITIONS, REPLICAS)
        if name in attributes and isinstance(attributes[name], ir.IntegerAttr)
    ]
    meshes = [op for op in program.module.body.operations if op.operation.name == "sdy.mesh"]
    devices = [int(size) for op in meshes for size in _AXIS_SIZE.findall(str(op.operation))]
    if max([1, *counts, *devices]) == 1:
        return []
    message = "the program is for several devices, and is verified on one, unsplit"
    return [Diagnostic("not-partitioned", message, program.where, "warning")]


def as_main(program: Program) -> None:
    """Makes the entry the public `main`; another `main` gets another name."""
    functions = functions_of(program.module)
    if program.entry_name != MAIN and MAIN in functions:
        free = next(
            name for n in range(len(functions) + 1) if (name := f"main_{n}") not in functions
        )
        ir.SymbolTable.replace_all_symbol_uses(MAIN, free, program.module.operation)
        ir.SymbolTable.set_symbol_name(functions[MAIN], free)
    rename_to_main(program.module, program.entry, Where(program.source.label))


def custom_calls(targets: frozenset[str], label: str) -> None:
    """Makes ready what custom calls need to run; raises HlopassError where nothing can."""
    if any("python_cpu_callback" in target for target in targets):
        message = "the program calls back into the Python process that made it"
        hint = "verify it without running it: --compile-only"
        raise HlopassError(Diagnostic("host-callback", message, Where(label), help=hint))
    if any(target.startswith("lapack_") for target in targets):
        initialize_lapack()


def transfers(operations: frozenset[str], label: str) -> None:
    """Raises HlopassError where a program would wait for a host that feeds it."""
    if operations:
        shown = " and ".join(sorted(operations))
        message = f"the program waits for the host at {shown}, and nothing feeds it here"
        hint = "verify it without running it: --compile-only"
        raise HlopassError(Diagnostic("host-transfer", message, Where(label), help=hint))
