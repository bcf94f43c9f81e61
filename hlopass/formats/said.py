"""What MLIR says while it works, gathered instead of printed."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from typing import Any

import jaxlib.mlir.ir as ir

from hlopass.diagnostics import Diagnostic, Where

_POSITION = re.compile(r"(\d+):(\d+): error: ([^\n]*)")
_STATUS = re.compile(r"^[A-Z_]+: ")


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


def xla_error(
    error: RuntimeError, label: str, text: str | None = None, doing: str = "read as HLO"
) -> Diagnostic:
    """What XLA says of a module that it cannot read or export, with its place in a text."""
    words = str(error)
    at = _POSITION.search(words)
    if at is not None and text is not None:
        line, column = int(at[1]), int(at[2])
        lines = text.split("\n")
        snippet = lines[line - 1] if line <= len(lines) else None
        where = Where(label, line, column, snippet=snippet)
        return Diagnostic("module-parse", cut(at[3]), where)
    message = f"cannot {doing}: {cut(_STATUS.sub('', words))}"
    return Diagnostic("hlo-import", message, Where(label))
