"""Shardy's attributes as MLIR prints them, and the parts of axes in them. Pure text.

The grammar is that of shardy/dialect/sdy/ir/printers.cc and parsers.cc.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

Axes = tuple[tuple[str, int], ...]


class AxisRef(NamedTuple):
    """An axis, or the part of `size` devices of it that comes after `pre`: `"x":(2)4`."""

    name: str
    pre: int | None = None
    size: int | None = None


@dataclass(frozen=True)
class ParsedDim:
    """The sharding of one dimension; `priority` is Shardy's, 0 the most urgent."""

    axes: tuple[AxisRef, ...]
    open: bool
    priority: int | None = None


@dataclass(frozen=True)
class ParsedSdy:
    """A `#sdy.sharding`. The mesh is named, or its axes stand in the attribute."""

    mesh_name: str | None
    mesh_axes: Axes | None
    device_ids: tuple[int, ...] | None
    dims: tuple[ParsedDim, ...]
    replicated: tuple[AxisRef, ...] = ()
    unreduced: tuple[AxisRef, ...] = ()


def string(text: str) -> str:
    """A string attribute: quoted, with what MLIR escapes escaped."""
    return '"' + "".join(map(_escaped, text.encode())) + '"'


def symbol(name: str) -> str:
    """A symbol reference: `@mesh`, or `@"a mesh"` where the name is no identifier."""
    plain = re.fullmatch(r"[A-Za-z_][\w$.]*", name, re.ASCII)
    return f"@{name}" if plain else f"@{string(name)}"


def parse_mesh(text: str) -> tuple[Axes, tuple[int, ...] | None] | None:
    """The axes and device ids of `#sdy.mesh<[...]>`, or of its `<[...]>`; None for another text."""
    found = re.fullmatch(rf"\s*(?:#sdy\.mesh)?{_MESH}\s*", text)
    return None if found is None else _mesh(found["axes"], found["ids"])


def parse_sdy(text: str) -> ParsedSdy | None:
    """Reads `#sdy.sharding<...>`, or its `<...>`; None for another text.

    Says nothing about whether the axes exist or stand twice: that is the verifier's.
    """
    found = _SHARDING.fullmatch(text.strip())
    if found is None:
        return None
    axes, ids = _mesh(found["axes"], found["ids"]) if found["inline"] else (None, None)
    lists = {word: _axes(inside) for word, inside in re.findall(_LIST, found["rest"])}
    return ParsedSdy(
        _plain(found["name"]) if found["name"] else None,
        axes,
        ids,
        tuple(_dim(dim[0]) for dim in re.finditer(_DIM, found["dims"])),
        lists.get("replicated", ()),
        lists.get("unreduced", ()),
    )


def parse_per_value(text: str) -> tuple[str, ...]:
    """The shardings in `#sdy.sharding_per_value<[...]>`, each as `#sdy.sharding` or its `<...>`."""
    return tuple(found[0] for found in _SHARDING.finditer(text))


def per_value(shardings: Iterable[str]) -> str:
    """The attribute of an operation, with a sharding for each result."""
    inside = ", ".join(each.removeprefix("#sdy.sharding") for each in shardings)
    return f"#sdy.sharding_per_value<[{inside}]>"


def write_sharding(mesh_name: str, dims: Iterable[ParsedDim]) -> str:
    """A sharding over a named mesh: `#sdy.sharding<@mesh, [{"x":(1)2, ?}, {}]>`."""
    written = ", ".join(map(_written, dims))
    return f"#sdy.sharding<{symbol(mesh_name)}, [{written}]>"


def _written(dim: ParsedDim) -> str:
    parts = [
        string(ref.name) + ("" if ref.size is None else f":({ref.pre}){ref.size}")
        for ref in dim.axes
    ]
    return "{" + ", ".join([*parts, *["?"] * dim.open]) + "}"


def dividing(names: Iterable[str], sizes: dict[str, int], size: int) -> tuple[AxisRef, ...]:
    """The axes over which Shardy splits a dimension of `size` at the edge of a program.

    All of them where they divide it; else the longest prefix that does, the last axis cut
    (`getEvenlySharded` in update_non_divisible_input_output_shardings.cc). Axes of one device
    are taken out before (remove_size_one_axes.cc).
    """
    refs = tuple(AxisRef(name) for name in names)
    if size % math.prod(sizes[ref.name] for ref in refs) == 0:
        return refs
    found: list[AxisRef] = []
    for name in (ref.name for ref in refs if sizes[ref.name] > 1):
        common = math.gcd(sizes[name], size)
        if common < sizes[name]:
            return (*found, AxisRef(name, 1, common)) if common > 1 else tuple(found)
        found.append(AxisRef(name))
        size //= common
    return tuple(found)


def cut_axes(
    axes: Axes, refs: Iterable[AxisRef]
) -> tuple[Axes, dict[AxisRef, tuple[str, ...]]] | None:
    """Axes cut where parts of them are used, and the new axes that each part is.

    `"x":(2)4` of an axis of 16 cuts it into 2, 4 and 2. None for an unknown axis, or for parts
    that overlap.
    """
    refs = list(refs)
    points = {name: {1, size} for name, size in axes}
    for name, pre, size in refs:
        if name not in points:
            return None
        points[name] |= set() if pre is None or size is None else {pre, pre * size}
    pieces: dict[str, list[tuple[int, str, int]]] = {}
    for name, whole in axes:
        ends = sorted(points[name])
        steps = list(itertools.pairwise(ends)) or [(1, 1)]
        if ends[0] < 1 or ends[-1] > whole or any(b % a for a, b in steps):
            return None
        uncut = len(steps) == 1
        pieces[name] = [(a, name if uncut else f"{name}:({a}){b // a}", b // a) for a, b in steps]
    parts = {
        (name, pre, size): tuple(
            piece
            for start, piece, _ in pieces[name]
            if pre is None or size is None or pre <= start < pre * size
        )
        for name, pre, size in refs
    }
    cut = tuple((piece, size) for name, _ in axes for _, piece, size in pieces[name])
    return cut, {ref: parts[ref] for ref in refs}


_STRING = r'"(?:[^"\\]|\\.)*"'
_REF = rf"{_STRING}(?::\(\d{{1,18}}\)\d{{1,18}})?"
_REFS = rf"{_REF}\s*(?:,\s*{_REF}\s*)*"
_DIM = rf"\{{\s*(?:{_REFS}(?:,\s*\?\s*)?|\?\s*)?\}}(?:p\d{{1,18}})?"
_LIST = rf",\s*(replicated|unreduced)\s*=\s*(?:max|min)?\s*\{{(\s*{_REFS})\}}"
_AXIS = rf"\s*{_STRING}\s*=\s*\d{{1,18}}\s*"
_IDS = r"\s*\d{1,18}\s*(?:,\s*\d{1,18}\s*)*"
_MESH = (
    rf"<\s*\[(?P<axes>\s*|{_AXIS}(?:,{_AXIS})*)\]\s*"
    rf"(?:,\s*device_ids\s*=\s*\[(?P<ids>{_IDS})\]\s*)?>"
)
_SHARDING = re.compile(
    rf"(?:#sdy\.sharding)?<\s*(?:@(?P<name>[A-Za-z_][\w$.]*|{_STRING})|(?P<inline>mesh\s*{_MESH}))"
    rf"\s*,\s*\[(?P<dims>\s*|\s*{_DIM}\s*(?:,\s*{_DIM}\s*)*)\]\s*(?P<rest>(?:{_LIST}\s*)*)>"
)


def _mesh(axes: str, ids: str | None) -> tuple[Axes, tuple[int, ...] | None]:
    pairs = re.findall(rf"({_STRING})\s*=\s*(\d+)", axes)
    numbers = None if ids is None else tuple(int(each) for each in ids.split(","))
    return tuple((_plain(name), int(size)) for name, size in pairs), numbers


def _dim(text: str) -> ParsedDim:
    inside, _, after = text.rpartition("}")
    priority = int(after[1:]) if after else None
    return ParsedDim(_axes(inside), re.sub(_STRING, "", inside).rstrip().endswith("?"), priority)


def _axes(text: str) -> tuple[AxisRef, ...]:
    found = re.finditer(rf"({_STRING})(?::\((\d+)\)(\d+))?", text)
    return tuple(
        AxisRef(_plain(each[1]), int(each[2]), int(each[3]))
        if each[2]
        else AxisRef(_plain(each[1]))
        for each in found
    )


def _escaped(byte: int) -> str:
    if byte == 0x5C:
        return "\\\\"
    return chr(byte) if 0x20 <= byte < 0x7F and byte != 0x22 else f"\\{byte:02X}"


def _plain(text: str) -> str:
    """The name in a quoted string, or an identifier as it is."""
    if not text.startswith('"'):
        return text
    raw = re.sub(rb"\\([0-9A-Fa-f]{2}|.)", _byte, text[1:-1].encode(), flags=re.DOTALL)
    return raw.decode(errors="replace")


def _byte(match: re.Match[bytes]) -> bytes:
    code = match[1]
    if len(code) == 2:
        return bytes([int(code, 16)])
    return {b"n": b"\n", b"t": b"\t"}.get(code, code)
