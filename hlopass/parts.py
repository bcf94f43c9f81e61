"""Several modules in one text: parted by `// -----` lines, or HloModules one after another."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_MARKER = re.compile(r"^[ \t]*// -----[^\n]*(?:\n|\Z)", re.MULTILINE)
_HEADER = re.compile(r"^HloModule\s", re.MULTILINE)
_COMMENT = re.compile(r"(?:\s|//[^\n]*(?:\n|\Z)|#[^\n]*(?:\n|\Z))*")


class Piece(NamedTuple):
    """A piece of a text: a module, or what stands between modules.

    `line` counts the lines before it; `number` counts the modules from 1, and is 0 between.
    """

    text: str
    line: int
    number: int

    def placed(self) -> str:
        """The piece after as many empty lines as stand before it: errors name the true line."""
        return "\n" * self.line + self.text


def split(text: str) -> list[Piece]:
    """The pieces of a text; together they are the text."""
    pieces: list[Piece] = []
    line = modules = 0
    for piece, may_be_module in _pieces(text):
        is_module = may_be_module and _COMMENT.fullmatch(piece) is None
        modules += is_module
        pieces.append(Piece(piece, line, modules if is_module else 0))
        line += piece.count("\n")
    return pieces


def count(text: str) -> int:
    """How many modules a text holds."""
    return sum(piece.number > 0 for piece in split(text))


def _pieces(text: str) -> Iterator[tuple[str, bool]]:
    """The pieces with whether they may be modules; markers may not."""
    at = 0
    for marker in _MARKER.finditer(text):
        yield from _headed(text[at : marker.start()])
        yield marker[0], False
        at = marker.end()
    yield from _headed(text[at:])


def _headed(text: str) -> Iterator[tuple[str, bool]]:
    """A piece cut before each header of HLO but the first."""
    at = 0
    for header in list(_HEADER.finditer(text))[1:]:
        yield text[at : header.start()], True
        at = header.start()
    if text[at:]:
        yield text[at:], True
