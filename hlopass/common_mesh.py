"""Tilings in, a mesh out whose axes say all of them. No MLIR.

GSPMD names the devices of each block, and Shardy the axes of a mesh. Devices that a tiling
counts row-major over some sizes give places at which to cut the row of all devices: those of
all tilings together give the axes.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterable, Sequence

from hlopass.gspmd import ParsedTiles
from hlopass.layout import Mesh
from hlopass.sdy_text import Axes, AxisRef

Span = tuple[int, int]
"""Of the row of all devices, the digits from a stride up to, not with, another."""


def find(tilings: Iterable[ParsedTiles], size: int, known: Sequence[Mesh] = ()) -> Mesh | None:
    """A mesh of `size` devices over which every tiling can be said; None where there is none.

    The first of `known` that does; else one with as few axes as can be, `axis_0` and so on,
    which counts devices by their ids or, where that says not all, as one of the tilings does.
    """
    tiled = [each for each in dict.fromkeys(tilings) if each.kind == "tiled"]
    for mesh in known:
        if mesh.size == size and all(over(each, mesh) is not None for each in tiled):
            return mesh
    orders = dict.fromkeys([tuple(range(size)), *map(_row, tiled)])
    for order in orders:
        axes = _axes(tiled, order)
        if axes is not None:
            return Mesh(axes, None if order == tuple(range(size)) else order)
    return None


def over(tiles: ParsedTiles, mesh: Mesh) -> tuple[tuple[AxisRef, ...], ...] | None:
    """The axes, or parts of axes, that split each dimension; None where none do.

    The major one is first. Devices are those of the mesh.
    """
    if tiles.is_replicated:
        return ((),) * len(tiles.tile)
    spans = _spans(tiles, tuple(mesh.ids))
    if spans is None:
        return None
    found = []
    for dim in spans:
        refs = [_refs(span, mesh) for span in dim]
        if None in refs:
            return None
        found.append(tuple(itertools.chain.from_iterable(ref for ref in refs if ref)))
    return tuple(found)


def _row(tiles: ParsedTiles) -> tuple[int, ...]:
    """The devices in the order of the blocks."""
    return tuple(itertools.chain.from_iterable(tiles.blocks))


def _axes(tilings: Sequence[ParsedTiles], order: tuple[int, ...]) -> Axes | None:
    """The axes that cut a row of devices wherever a tiling does."""
    cuts = {1, len(order)}
    for tiles in tilings:
        spans = _spans(tiles, order)
        if spans is None:
            return None
        cuts |= {end for dim in spans for span in dim for end in span}
    if not _divide(cuts):
        return None
    sizes = [large // small for small, large in itertools.pairwise(sorted(cuts))][::-1] or [1]
    return tuple((f"axis_{index}", size) for index, size in enumerate(sizes))


def _divide(cuts: Iterable[int]) -> bool:
    """Whether each divides the next larger one."""
    return not any(large % small for small, large in itertools.pairwise(sorted(set(cuts))))


@functools.lru_cache(maxsize=1024)
def _spans(tiles: ParsedTiles, order: tuple[int, ...]) -> tuple[tuple[Span, ...], ...] | None:
    """The digits of a device's place in `order` that number its block along each dimension.

    The major ones first. None where the blocks do not follow from digits of the place.
    """
    place = {device: at for at, device in enumerate(order)}
    if sorted(_row(tiles)) != sorted(order):
        return None
    row = [at for block in tiles.blocks for at in sorted(place[device] for device in block)]
    copies = len(tiles.blocks[0])
    found: list[tuple[Span, ...]] = []
    for size in (copies, *reversed(tiles.tile)):
        dim: list[Span] = []
        while size > 1:
            step = _step(row, size)
            if step is None:
                return None
            dim.append((row[1], row[1] * step))
            row, size = row[::step], size // step
        found.append(tuple(reversed(dim)))
    return tuple(reversed(found[1:])) if row == [0] else None


def _step(row: Sequence[int], size: int) -> int | None:
    """The largest factor of `size` such that the row counts up evenly in runs of that many."""
    stride = row[1] - row[0]
    for step in range(size, 1, -1):
        if size % step == 0 and all(
            row[at] == row[at - at % step] + stride * (at % step) for at in range(len(row))
        ):
            return step
    return None


def _refs(span: Span, mesh: Mesh) -> tuple[AxisRef, ...] | None:
    """The axes of a mesh that are a span, in part or whole; None where it cuts through them."""
    low, high = span
    found, end = [], mesh.size
    for name, size in mesh.axes:
        start = end // size
        first, last = max(low, start), min(high, end)
        if first < last:
            if not _divide((start, first, last, end)):
                return None
            whole = (first, last) == (start, end)
            found.append(AxisRef(name) if whole else AxisRef(name, end // last, last // first))
        end = start
    return tuple(found) if math.prod(_size(ref, mesh) for ref in found) * low == high else None


def _size(ref: AxisRef, mesh: Mesh) -> int:
    return mesh.sizes[ref.name] if ref.size is None else ref.size
