"""Which function of a module is the one that runs."""

from __future__ import annotations

from collections.abc import Callable

import jaxlib.mlir.ir as ir

from hlopass.diagnostics import Diagnostic, HlopassError, Where, nearest_or_list, quoted

MAIN = "main"
"""The one function that XLA compiles (xla/hlo/translate/mhlo_to_hlo)."""

_NAME = "sym_name"
_VISIBILITY = "sym_visibility"


def functions_of(module: ir.Module) -> dict[str, ir.Operation]:
    """The `func.func` operations at the top level of a module, by name, in order."""
    return {
        name_of(op.operation): op.operation
        for op in module.body.operations
        if op.operation.name == "func.func"
    }


def name_of(function: ir.Operation) -> str:
    """The symbol name of a function."""
    return str(ir.StringAttr(function.attributes[_NAME]).value)


def select_entry(
    module: ir.Module, entry: str | None, where: Where, warn: Callable[[Diagnostic], None]
) -> ir.Operation:
    """The function called `entry`; else `main`; else the only public one, with a warning.

    Raises HlopassError where there is none, or none to prefer.
    """
    functions = functions_of(module)
    if not functions:
        raise HlopassError(_no_function(module, where))
    name = entry or (MAIN if MAIN in functions else _only_public(functions, where))
    if name not in functions:
        message = f"no function called {quoted(name)} in the module"
        hint = nearest_or_list(name, list(functions))
        raise HlopassError(Diagnostic("entry-unknown", message, where, help=hint))
    function = functions[name]
    if not function.regions[0].blocks:
        message = f"function {quoted(name)} has no body"
        hint = nearest_or_list("", [n for n, each in functions.items() if each.regions[0].blocks])
        raise HlopassError(Diagnostic("entry-no-body", message, where, help=hint))
    _warn(name, function, MAIN in functions, where, warn)
    return function


def rename_to_main(module: ir.Module, function: ir.Operation, where: Where) -> bool:
    """Makes a function the public `main`, with every mention of it; whether it was not.

    Raises HlopassError where the module has another `main`.
    """
    name = name_of(function)
    if name == MAIN and not is_private(function):
        return False
    if name != MAIN:
        if MAIN in functions_of(module):
            message = f"cannot rename {quoted(name)}: the module has a 'main' already"
            hint = "leave out --rename-entry, or remove that one from the module"
            raise HlopassError(Diagnostic("entry-rename", message, where, help=hint))
        ir.SymbolTable.replace_all_symbol_uses(name, MAIN, module.operation)
        ir.SymbolTable.set_symbol_name(function, MAIN)
    if is_private(function):
        ir.SymbolTable.set_visibility(function, "public")
    return True


def is_private(function: ir.Operation) -> bool:
    """Whether a function's visibility is `private`; none at all means public."""
    attributes = function.attributes
    return _VISIBILITY in attributes and str(attributes[_VISIBILITY]) == '"private"'


def _only_public(functions: dict[str, ir.Operation], where: Where) -> str:
    public = [name for name, function in functions.items() if not is_private(function)]
    if len(public) == 1:
        return public[0]
    shown = ", ".join(quoted(name) for name in public or functions)
    kind = f"{len(public)} public ones" if public else "only private ones"
    raise HlopassError(
        Diagnostic(
            "entry-ambiguous",
            f"the module has no function called 'main' and {kind}: {shown}",
            where,
            notes=("XLA compiles the function called 'main' and no other",),
            help="pick one with --entry NAME; --rename-entry also makes it the public 'main'",
        )
    )


def _no_function(module: ir.Module, where: Where) -> Diagnostic:
    names = [op.operation.name for op in module.body.operations]
    if not names:
        return Diagnostic("module-empty", "the module is empty", where)
    message = "the module has no func.func at its top level"
    inner = names.count("builtin.module")
    if inner:
        note = f"it holds {inner} modules" if inner > 1 else "it holds a module"
        hint = "write the module to run to a file of its own"
        return Diagnostic("entry-missing", message, where, notes=(note,), help=hint)
    note = f"it holds {', '.join(dict.fromkeys(names))}"
    return Diagnostic("entry-missing", message, where, notes=(note,))


def _warn(
    name: str,
    function: ir.Operation,
    has_main: bool,
    where: Where,
    warn: Callable[[Diagnostic], None],
) -> None:
    hint = "--rename-entry makes it the public function 'main'"
    if name != MAIN:
        message = f"the entry is {quoted(name)}, but XLA compiles only the function called 'main'"
        if has_main:
            hint = "the module has a 'main' as well, which is left as it is"
        warn(Diagnostic("entry-not-main", message, where, "warning", help=hint))
    elif is_private(function):
        message = "'main' is private: XLA removes it as unused and then finds no entry"
        warn(Diagnostic("entry-private", message, where, "warning", help=hint))
