"""Works on each module of a text that holds several, and puts the text together again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from hlopass import parts
from hlopass.diagnostics import CompilerDied, Diagnostic, HlopassError, UsageError, Where
from hlopass.formats import gzipped, unpacked
from hlopass.sources import bytes_of

Each = Callable[[bytes, str], bytes]


@dataclass(frozen=True)
class Parted:
    """A text whose modules were worked on; `failed` counts those that are as they came."""

    data: bytes
    modules: int
    failed: int


def split(source: Any, label: str | None = None) -> tuple[bytes, ...]:
    """The modules of a text that holds several, each for `rewrite` and the like to read.

    Every one begins with empty lines, so that diagnostics name lines of the whole text.
    """
    pieces = parts.split(_text_of(*bytes_of(source, label)))
    return tuple(piece.placed().encode() for piece in pieces if piece.number)


def each_part(
    source: Any, work: Each, show: Callable[[Diagnostic], None], repack: bool = True
) -> Parted:
    """The text with `work` done to each module; where that fails, it is left as it came.

    What came gzipped is packed again, with `repack`.

    `work` is given a module and its label, and `show` every error, with its part. Raises
    UsageError as soon as `work` does: it would for every module.
    """
    raw, label = bytes_of(source, None)
    pieces = parts.split(_text_of(raw, label))
    modules = sum(piece.number > 0 for piece in pieces)
    written: list[bytes] = []
    failed = 0
    for piece in pieces:
        data = piece.text.encode()
        if piece.number:
            try:
                data = _ended(work(piece.placed().encode(), label).lstrip(b"\n"), piece.text)
            except (UsageError, CompilerDied):
                raise
            except HlopassError as error:
                failed += 1
                for found in error.diagnostics:
                    show(named(found, piece.number, modules))
        written.append(data)
    whole = b"".join(written)
    packed = repack and raw.startswith(gzipped.MAGIC)
    return Parted(gzipped.write(whole) if packed else whole, modules, failed)


def named(found: Diagnostic, number: int, modules: int) -> Diagnostic:
    """A diagnostic that says which module of several it is about."""
    return replace(found, notes=(*found.notes, f"in module {number} of {modules}"))


def _ended(data: bytes, before: str) -> bytes:
    """A module with the empty lines around it that it came with."""
    body = before.strip("\n")
    start = before.index(body)
    ending = "\n" * (len(before) - start - len(body))
    return b"\n" * start + data.rstrip(b"\n") + ending.encode()


def _text_of(raw: bytes, label: str) -> str:
    try:
        return unpacked(raw, label).decode("utf-8-sig")
    except UnicodeDecodeError:
        message = "only texts hold several modules, and this is none"
        raise HlopassError(Diagnostic("split-binary", message, Where(label))) from None
