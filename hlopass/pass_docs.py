"""Documents passes from their own docstrings and fields."""

from __future__ import annotations

import dataclasses
import inspect

from hlopass.diagnostics import Diagnostic, UsageError, nearest_or_list, quoted
from hlopass.passes import Pass, all_passes


def listing() -> str:
    """Every pass with the first line of its documentation."""
    passes = all_passes()
    width = max(len(name) for name in passes)
    return "\n".join(f"{name:{width}}  {_first_line(cls)}" for name, cls in passes.items())


def page(name: str) -> str:
    """One pass: its documentation and its options.

    Raises UsageError where there is no such pass.
    """
    passes = all_passes()
    if name not in passes:
        hint = nearest_or_list(name, list(passes))
        raise UsageError(Diagnostic("pass-unknown", f"no pass is called {quoted(name)}", help=hint))
    cls = passes[name]
    lines = [name, "", inspect.getdoc(cls) or ""]
    options = dataclasses.fields(cls)
    lines += ["", "Options:" if options else "It has no options."]
    lines += [f"  {field.name}: {field.type} = {field.default!r}" for field in options]
    return "\n".join(lines)


def _first_line(cls: type[Pass]) -> str:
    return (inspect.getdoc(cls) or "").partition("\n")[0]
