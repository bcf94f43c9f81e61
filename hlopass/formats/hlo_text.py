"""HLO text: what its header says, and the same text with other donations in its header."""

from __future__ import annotations

import re

from hlopass.hlo_origin import Alias, Donations, shown

ALIASES, DONORS = "input_output_alias", "buffer_donor"

_COMMENTS = r"(?:\s|//[^\n]*\n|/\*.*?\*/)*"
_START = re.compile(_COMMENTS + r"HloModule\s+[^\s,]+", re.DOTALL)
_NO_HEADER = re.compile(_COMMENTS + r"(?:ENTRY\s+)?%?[\w.-]+\s*\{\s*(?:ROOT\s+)?%?[\w.-]+\s*=\s*\w")
_KEY = re.compile(r"\s*,\s*(\w+)\s*=\s*")
_PIECE = re.compile(r'"(?:[^"\\]|\\.)*"|[{}()\[\],\n]|[^"{}()\[\],\n]+')
_UNSPECIFIED = re.compile(r",\s*api_version=API_VERSION_UNSPECIFIED\b")


class Span:
    """Where an attribute of the header stands: `, key=value` from start to end."""

    def __init__(self, start: int, value: int, end: int) -> None:
        self.start = start
        self.value = value
        self.end = end


def is_hlo(text: str) -> bool:
    """Whether a text begins as HLO does: with a header, or with a computation."""
    return _START.match(text) is not None or _NO_HEADER.match(text) is not None


def header(text: str) -> tuple[int, dict[str, Span]]:
    """Where the module's name ends, and the attributes after it by key."""
    start = _START.match(text)
    if start is None:
        return 0, {}
    return start.end(), attributes(text, start.end())


def attributes(text: str, at: int) -> dict[str, Span]:
    """The attributes that begin at a place, `, key=value, ...`, by key."""
    found: dict[str, Span] = {}
    while (key := _KEY.match(text, at)) is not None:
        end = _value_end(text, key.end())
        found[key[1]] = Span(at, key.end(), end)
        at = end
    return found


def balanced_end(text: str, at: int) -> int:
    """The place after the bracket that closes the one at a place; the end where none does."""
    depth = 0
    while (piece := _PIECE.match(text, at)) is not None:
        depth += (piece[0] in "{([") - (piece[0] in "})]")
        at = piece.end()
        if depth == 0:
            break
    return at


def _value_end(text: str, at: int) -> int:
    """The end of a value: the comma or line break outside of its brackets."""
    depth = 0
    while (piece := _PIECE.match(text, at)) is not None:
        if piece[0] in ",\n" and depth == 0:
            break
        depth += (piece[0] in "{([") - (piece[0] in "})]")
        at = piece.end()
    return at


def attribute(text: str, key: str) -> str | None:
    """What the header says for a key; None where it says nothing."""
    span = header(text)[1].get(key)
    return None if span is None else text[span.value : span.end].strip()


def for_parser(text: str) -> str:
    """The text without what XLA's parser takes from no frontend, and needs from none."""
    return _UNSPECIFIED.sub("", text)


def with_donations(text: str, donations: Donations) -> str:
    """The text with other donations in its header, otherwise byte for byte."""
    aliases = ", ".join(map(_alias, donations.aliases))
    donors = ", ".join(map(str, donations.donors))
    text = with_attribute(text, DONORS, f"{{ {donors} }}" if donors else None)
    return with_attribute(text, ALIASES, f"{{ {aliases} }}" if aliases else None)


def with_attribute(text: str, key: str, value: str | None) -> str:
    """The text with an attribute of its header set, or taken out; where it was, or else first."""
    if value is not None and _START.match(text) is None:
        text = f"HloModule module\n\n{text}"
    name_end, found = header(text)
    written = "" if value is None else f", {key}={value}"
    span = found.get(key, Span(name_end, name_end, name_end))
    return text[: span.start] + written + text[span.end :]


def _alias(alias: Alias) -> str:
    parameter, path = alias.slot
    return f"{shown(alias.output)}: ({parameter}, {shown(path)}, {alias.kind})"
