"""A tensor split for devices, and put together again from them. Numpy alone."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from hlopass.gspmd import ParsedTiles

Array = np.ndarray[Any, Any]
Block = tuple[slice, ...]
Devices = tuple[int, ...]
Shape = tuple[int, ...]


def held(shape: Shape, tiles: ParsedTiles) -> Shape:
    """The shape of what each device holds.

    Blocks of what the axes do not divide are rounded up (XLA's `HloSharding::TileShape`).
    """
    return _part(shape, tiles) if _is_split(tiles) else shape


def blocks(shape: Shape, tiles: ParsedTiles, devices: int) -> Iterator[tuple[Block, Devices]]:
    """Each block of a tensor, and those of so many devices that hold it."""
    if _is_split(tiles):
        yield from _blocks(shape, tiles)
    else:
        yield tuple(slice(0, size) for size in shape), tuple(range(devices))


def padded(piece: Array, shape: Shape) -> Array:
    """A block as a device holds it: one that is cut off is filled with zeros."""
    if piece.shape == shape:
        return piece
    return np.pad(piece, [(0, size - have) for size, have in zip(shape, piece.shape, strict=True)])


def join(shards: Sequence[Array], tiles: ParsedTiles, shape: tuple[int, ...]) -> Array:
    """The array of this shape of which each device holds a block."""
    if not _is_split(tiles):
        return shards[tiles.blocks[0][0] if tiles.kind == "maximal" else 0]
    whole = np.empty(shape, shards[0].dtype)
    for block, holders in _blocks(shape, tiles):
        target = whole[block]
        target[...] = shards[holders[0]][tuple(slice(size) for size in target.shape)]
    return whole


def _is_split(tiles: ParsedTiles) -> bool:
    return tiles.kind == "tiled" and math.prod(tiles.tile) > 1


def _part(shape: tuple[int, ...], tiles: ParsedTiles) -> tuple[int, ...]:
    """The shape of a block."""
    return tuple(-(-size // count) for size, count in zip(shape, tiles.tile, strict=True))


def _blocks(shape: tuple[int, ...], tiles: ParsedTiles) -> Iterator[tuple[Block, Devices]]:
    """Each block of a tensor, and the devices that hold it."""
    part = _part(shape, tiles)
    places = itertools.product(*(range(count) for count in tiles.tile))
    for place, holders in zip(places, tiles.blocks, strict=True):
        starts = [at * size for at, size in zip(place, part, strict=True)]
        ends = [start + size for start, size in zip(starts, part, strict=True)]
        yield tuple(map(slice, starts, ends)), holders
