"""Formats of modules: recognised by content, read to a program, written from it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, get_args

import jaxlib.mlir.ir as ir

from hlopass.diagnostics import Diagnostic, HlopassError, Where
from hlopass.formats import bytecode, text
from hlopass.jaxlib_compat import location_position, new_context
from hlopass.program import PARSED_FROM, Program, Source

Format = Literal["text", "bytecode"]
FORMATS: tuple[Format, ...] = get_args(Format)

_FOREIGN = (
    (b"HloModule", "HLO text"),
    (b"\x1f\x8b", "gzip data"),
    (b"PK\x03\x04", "a zip archive"),
    (b"BC\xc0\xde", "LLVM bitcode"),
)

_JSON = re.compile(r"\s*[\[{](?!-#)")
_VERIFIED = {
    "unknown mesh:": "mesh-unknown",
    "unknown axis name:": "axis-unknown",
    "duplicate axis ref:": "axis-repeated",
    "sharding doesn't match tensor rank": "shard-rank",
}
"""Words of Shardy's verifier, which runs when a module is read, and the codes of what they say."""

_UNHELPFUL_NOTES = ("see current operation", "Available dialects")


def read(data: bytes | str, label: str, entry: str | None = None) -> Program:
    """A program from the bytes of a file; `label` names it in diagnostics.

    Raises HlopassError where the bytes are no module, or it has no entry function.
    """
    source, raw = _recognise(data, label)
    with new_context() as context:
        context.emit_error_diagnostics = False
        try:
            return Program(ir.Module.parse(raw), source, entry)
        except ir.MLIRError as error:
            raise HlopassError(_parse_errors(error, source)) from None
        except (ValueError, RuntimeError, MemoryError):
            if source.format == "text":
                raise
            message = "not a module: the bytecode is damaged"
            raise HlopassError(Diagnostic("format-unknown", message, Where(label))) from None


def write(program: Program, format: Format) -> bytes:
    """The bytes of a program; the same program gives the same bytes."""
    if format == "bytecode":
        return bytecode.write(program)
    return text.write(program)


def _recognise(data: bytes | str, label: str) -> tuple[Source, str | bytes]:
    if isinstance(data, bytes) and data.startswith(bytecode.MAGIC):
        return Source(label, "bytecode"), data
    if isinstance(data, str):
        written = data
    else:
        _refuse_foreign(data, label)
        try:
            written = data.decode("utf-8-sig")
        except UnicodeDecodeError:
            raise HlopassError(_not_a_module("binary data", label)) from None
    if not written.strip():
        raise HlopassError(Diagnostic("module-empty", "the file is empty", Where(label)))
    if _JSON.match(written):
        raise HlopassError(_not_a_module("JSON", label))
    return Source(label, "text", written, text.has_locations(written)), written


def _refuse_foreign(data: bytes, label: str) -> None:
    for magic, name in _FOREIGN:
        if data.lstrip()[: len(magic)] == magic or data.startswith(magic):
            raise HlopassError(_not_a_module(name, label))
    if b"\0" in data:
        raise HlopassError(_not_a_module("binary data", label))


def _not_a_module(what: str, label: str) -> Diagnostic:
    message = f"not a module: {what}"
    legal = "StableHLO or MHLO, as MLIR text or bytecode"
    return Diagnostic("format-unknown", message, Where(label), help=f"legal: {legal}")


def _parse_errors(error: ir.MLIRError, source: Source) -> list[Diagnostic]:
    found = []
    for item in error.error_diagnostics:
        where = _where(item.location, source)
        notes = _notes(item.notes, source)
        if where.line is not None and _at_end(where.line, where.column or 1, source):
            notes += ("the text ends there: it may have been cut short",)
        hint = None
        if "not found for custom op" in item.message:
            hint = "operations of other dialects are read in MLIR's generic form only"
        message = _cut(item.message.replace("`", "'"))
        code = next((code for words, code in _VERIFIED.items() if words in message), "module-parse")
        found.append(Diagnostic(code, message, where, notes=notes, help=hint))
    message = str(error).strip().splitlines()[0]
    return found or [Diagnostic("module-parse", _cut(message), Where(source.label))]


def _notes(notes: Sequence[ir.DiagnosticInfo], source: Source) -> tuple[str, ...]:
    """MLIR's notes that help, each with its line."""
    found = []
    for note in notes:
        if not note.message.startswith(_UNHELPFUL_NOTES):
            line = _where(note.location, source).line
            found.append(_cut(note.message) + ("" if line is None else f": line {line}"))
    return tuple(found)


def _at_end(line: int, column: int, source: Source) -> bool:
    """Whether nothing follows a place in the text."""
    rest = (source.text or "").split("\n")[line - 1 :]
    return not "".join([rest[0][column - 1 :], *rest[1:]]).strip() if rest else True


def _where(location: ir.Location, source: Source) -> Where:
    position = location_position(location)
    if position is None or position[0] != PARSED_FROM or position[1] == 0:
        return Where(source.label)
    _, line, column = position
    return Where(source.label, line, column, snippet=source.line(line))


def _cut(message: str, most: int = 300) -> str:
    """One line of a message of MLIR's, in this project's style."""
    line = " ".join(message.split()).rstrip(". ")
    line = line[:1].lower() + line[1:] if line[1:2].islower() else line
    return line if len(line) <= most else line[:most] + " ..."
