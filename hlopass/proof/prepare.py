"""What must be done to a program, or said of it, before it is compiled and run."""

from __future__ import annotations

import jaxlib.mlir.ir as ir

from hlopass.diagnostics import Diagnostic, HlopassError, Where
from hlopass.entry import MAIN, functions_of, rename_to_main
from hlopass.jaxlib_compat import initialize_lapack
from hlopass.program import Program

_RANDOM = frozenset({"rng", "rng_bit_generator", "rng_uniform", "rng_normal"})


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


def draws_numbers(program: Program) -> bool:
    """Whether a program has operations that make random numbers, wherever they stand."""
    found = False

    def visit(operation: ir.Operation) -> ir.WalkResult:
        nonlocal found
        found = found or operation.name.partition(".")[2] in _RANDOM
        return ir.WalkResult.INTERRUPT if found else ir.WalkResult.ADVANCE

    program.module.operation.walk(visit)
    return found


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
