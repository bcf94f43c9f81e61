"""What MLIR says while it works, gathered instead of printed."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import jaxlib.mlir.ir as ir


@contextlib.contextmanager
def saying(context: ir.Context) -> Iterator[list[str]]:
    """The errors that MLIR emits inside, each as one short line."""
    said: list[str] = []

    def hear(diagnostic: ir.Diagnostic) -> bool:
        if diagnostic.severity == ir.DiagnosticSeverity.ERROR:
            said.append(cut(diagnostic.message))
        return True

    before = context.emit_error_diagnostics
    context.emit_error_diagnostics = False
    handler: Any = context.attach_diagnostic_handler(hear)
    try:
        yield said
    finally:
        handler.detach()
        context.emit_error_diagnostics = before


def cut(message: str, most: int = 300) -> str:
    """One line of a message of MLIR's, in this project's style."""
    line = " ".join(message.split()).rstrip(". ")
    line = line[:1].lower() + line[1:] if line[1:2].islower() else line
    return line if len(line) <= most else line[:most] + " ..."
