"""Formats of modules: recognised by content, read to a program, written from it."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Sequence
from dataclasses import replace

import jaxlib.mlir.ir as ir

from hlopass import parts
from hlopass.diagnostics import Diagnostic, HlopassError, Where
from hlopass.emit import HLO, Emit, Format
from hlopass.formats import bytecode, text
from hlopass.formats.said import cut
from hlopass.jaxlib_compat import location_position, new_context
from hlopass.loaded import Loaded, Source
from hlopass.program import PARSED_FROM, Program

_FOREIGN = (
    (b"PK\x03\x04", "a zip archive"),
    (b"BC\xc0\xde", "LLVM bitcode"),
)
_GZIP = b"\x1f\x8b"
_CONTROL = re.compile(rb"[\0-\x08\x0e-\x1f]")
_HLO_TEXT = re.compile(
    r"(?:\s|//[^\n]*\n|/\*.*?\*/|#[^\n]*\n)*"
    r"(?:HloModule\s|ENTRY\s|(?:name|hlo_module|hlo|computations|id)\s*[:{]"
    r"|(?!(?:builtin\.)?module\b)%?[\w.-]+\s*\{)",
    re.DOTALL,
)
"""How HLO text begins, with a header or without, and text protos that hold a module."""


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
    loaded = load(data, label)
    with loaded.context:
        try:
            return Program(loaded.module, loaded.source, entry)
        except UnicodeDecodeError:
            raise HlopassError(_damaged(label)) from None


def load(data: bytes | str, label: str) -> Loaded:
    """A module from the bytes of a file. Raises HlopassError where they are none."""
    if isinstance(data, bytes) and data.startswith(_GZIP):
        loaded = load(unpacked(data, label), label)
        loaded.source = replace(loaded.source, gzip=True)
        return loaded
    if isinstance(data, bytes) and data.startswith(bytecode.MAGIC):
        return _binary(data, label)
    if isinstance(data, bytes) and data.startswith(b"\n") and _CONTROL.search(data[:4096]):
        from hlopass.formats import hlo

        return hlo.read_proto(data, label)
    if isinstance(data, bytes) and b"\0" in data[:64]:
        from hlopass.formats import jax_export

        if jax_export.held(data) is not None:
            loaded = _binary(jax_export.module_of(data), label)
            loaded.source = replace(loaded.source, format="jax-export", blob=data)
            return loaded
    source, written = _recognise(data, label)
    try:
        return _hlo(written, label) if _HLO_TEXT.match(written) else _text(written, source)
    except HlopassError:
        modules = parts.count(written)
        if modules < 2:
            raise
        message = f"the text holds {modules} modules"
        hint = "--split-input-file takes each by itself; from Python, hlopass.split does"
        raise HlopassError(Diagnostic("module-several", message, Where(label), help=hint)) from None


def load_named(data: bytes | str, label: str) -> Loaded:
    """A module whose entry, where it has one, keeps the names of its arguments."""
    loaded = load(data, label)
    with loaded.context, contextlib.suppress(HlopassError):
        return Program(loaded.module, loaded.source)
    return loaded


def write(
    program: Loaded,
    emit: Emit | Format | None = None,
    warn: Callable[[Diagnostic], None] = lambda _: None,
) -> bytes:
    """The bytes of a program, by default in the format, version and packing that it came in.

    The same program gives the same bytes; `warn` is told what the format cannot say.
    """
    source = program.source
    if emit is None:
        emit = Emit(source.format, source.version, source.gzip)
    elif not isinstance(emit, Emit):
        emit = Emit(emit)
    data = _write(program, emit, warn)
    if emit.gzip:
        from hlopass.formats import gzipped

        return gzipped.write(data)
    return data


def _write(program: Loaded, emit: Emit, warn: Callable[[Diagnostic], None]) -> bytes:
    if emit.format in HLO or program.source.origin is not None:
        from hlopass.formats import hlo_write

        if emit.format in HLO:
            return hlo_write.write(program, emit.format, warn)
        hlo_write.say_lost_from_stablehlo(program, warn)
    if emit.format == "text":
        return text.write(program)
    if emit.format == "bytecode":
        return bytecode.write(program)
    from hlopass.formats import portable

    if emit.format == "jax-export":
        return _blob(program, warn)
    return portable.write(program, emit.version, warn)


def _blob(program: Loaded, warn: Callable[[Diagnostic], None]) -> bytes:
    """A program in the blob that it came in, its artifact being of the same version."""
    from hlopass.formats import jax_export, portable

    source = program.source
    if source.blob is None:
        message = "only what came as a jax.export blob can be written as one"
        hint = "its types, trees and shardings are known to JAX alone: jax.export.export"
        raise HlopassError(Diagnostic("jax-export-lost", message, Where(source.label), help=hint))
    return jax_export.with_module(source.blob, portable.write(program, source.version, warn))


def _text(written: str, source: Source) -> Loaded:
    with new_context() as context:
        context.emit_error_diagnostics = False
        try:
            return Loaded(ir.Module.parse(written), source)
        except ir.MLIRError as error:
            raise HlopassError(_parse_errors(error, source)) from None


def _hlo(written: str, label: str) -> Loaded:
    from hlopass.formats import hlo

    return hlo.read_text(written, label) if hlo.is_text(written) else hlo.read_proto(written, label)


def unpacked(data: bytes, label: str) -> bytes:
    """The bytes of a file that may be gzipped. Raises HlopassError where that is damaged."""
    if not data.startswith(_GZIP):
        return data
    from hlopass.formats import gzipped

    inner = gzipped.read(data, label)
    if inner.startswith(_GZIP):
        raise HlopassError(_not_a_module("gzip data in gzip data", label))
    return inner


def _binary(data: bytes, label: str) -> Loaded:
    """Bytecode, or a portable artifact: its producer says so, or, before 2024, its operations."""
    from hlopass.formats import portable

    version = portable.version_of(data)
    source = Source(label, "bytecode" if version is None else "portable", version=version)
    with new_context() as context:
        context.emit_error_diagnostics = False
        try:
            if version is not None:
                return Loaded(portable.read(data, context, label, version), source)
            module = ir.Module.parse(data)
            if portable.is_vhlo(module):
                source = replace(source, format="portable")
                module = portable.read(data, context, label, version)
            return Loaded(module, source)
        except ir.MLIRError as error:
            raise HlopassError(_parse_errors(error, source)) from None
        except (ValueError, RuntimeError, MemoryError):
            raise HlopassError(_damaged(label)) from None


def _damaged(label: str) -> Diagnostic:
    return Diagnostic("format-unknown", "not a module: the bytecode is damaged", Where(label))


def _recognise(data: bytes | str, label: str) -> tuple[Source, str]:
    """The source of a text, and the text."""
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
    legal = "StableHLO, MHLO or HLO, as text, bytecode, portable artifact or proto, gzipped or not"
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
        message = cut(item.message.replace("`", "'"))
        code = next((code for words, code in _VERIFIED.items() if words in message), "module-parse")
        found.append(Diagnostic(code, message, where, notes=notes, help=hint))
    message = str(error).strip().splitlines()[0]
    return found or [Diagnostic("module-parse", cut(message), Where(source.label))]


def _notes(notes: Sequence[ir.DiagnosticInfo], source: Source) -> tuple[str, ...]:
    """MLIR's notes that help, each with its line."""
    found = []
    for note in notes:
        if not note.message.startswith(_UNHELPFUL_NOTES):
            line = _where(note.location, source).line
            found.append(cut(note.message) + ("" if line is None else f": line {line}"))
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
