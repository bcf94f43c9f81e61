"""What a program says of an argument's or result's sharding, in either dialect. No MLIR.

`sdy.sharding` is Shardy's attribute, over a named mesh; `mhlo.sharding` is GSPMD's, a text
that the partitioner reads and no verifier checks.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from msgspec import structs

from hlopass.layout import (
    Mesh,
    ParsedSdy,
    ParsedTiles,
    TensorSharding,
    element_bits,
    parse_gspmd,
    parse_sdy,
)
from hlopass.values import Value

Dialect = Literal["shardy", "gspmd"]


@dataclass(frozen=True)
class Sharded:
    """A sharding that an argument or result carries, as `text` has it.

    `tiles` is where its blocks lie as the partitioner will have them; `sharding` the same
    over named axes, of Shardy's. Both are None where there is a `problem`, which says why the
    compiler refuses the attribute, ignores it or dies of it. `asked`: into how many blocks it
    says to split each dimension, `uneven`: the dimensions that those do not divide. `open`:
    propagation may split it further.
    """

    dialect: Dialect
    text: str
    tiles: ParsedTiles | None = None
    sharding: TensorSharding | None = None
    problem: str | None = None
    uneven: tuple[int, ...] = ()
    asked: tuple[int, ...] = ()
    open: bool = False

    @property
    def is_replicated(self) -> bool:
        """Whether every device holds all of it, unless propagation splits it."""
        return self.tiles is not None and self.tiles.is_replicated

    @property
    def devices(self) -> int | None:
        """How many devices it names; None where it names none, as `{replicated}` does."""
        if self.sharding is not None:
            return self.sharding.mesh.size
        if self.tiles is None or self.tiles.kind != "tiled":
            return None
        return sum(len(block) for block in self.tiles.blocks)

    def same_as(self, other: Sharded) -> bool:
        """Whether both put equal blocks on equal devices, however they are written."""
        if self.tiles is None or other.tiles is None:
            return self.text == other.text
        return self.tiles.same_as(other.tiles)

    def shard_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """The shape of a block, rounded up; the whole shape where it is not split."""
        tile = None if self.tiles is None else self.tiles.tile
        if not tile or len(tile) != len(shape):
            return shape
        return tuple(-(-size // count) for size, count in zip(shape, tile, strict=True))

    def shard_bytes(self, shape: tuple[int, ...], size: int) -> int:
        """The bytes of a block of a tensor of `size` bytes, as each device allocates it."""
        bits = element_bits(shape, size)
        return (math.prod(self.shard_shape(shape)) * bits + 7) // 8


def shardy(text: str, value: Value, meshes: Mapping[str, Mesh]) -> Sharded:
    """Reads an `sdy.sharding` of an argument or result; `meshes` are the module's by name."""
    found = Sharded("shardy", text)
    parsed = parse_sdy(text)
    rank = value.rank
    problem: str | None = "it is no sharding"
    if parsed is not None:
        problem = sdy_problem(parsed, rank, value.role, meshes)
    if parsed is None or problem is not None:
        return replace(found, problem=problem)
    mesh = None if parsed.mesh_name is None else meshes[parsed.mesh_name]
    sharding = TensorSharding.from_sdy(parsed, mesh)
    if sharding is None:
        return replace(found, problem="its axes are not distinct axes of the mesh")
    kept = sharding if value.shape is None else sharding.even(value.shape)
    return replace(
        found,
        tiles=_partial(kept.tiles(), parsed, mesh),
        sharding=kept,
        uneven=_undivided(sharding.counts, value),
        asked=sharding.counts,
        open=bool(sharding.open_dims),
    )


def _partial(tiles: ParsedTiles, parsed: ParsedSdy, mesh: Mesh | None) -> ParsedTiles:
    """Tiles of which each device holds a part of a sum, over axes that are unreduced."""
    sizes = dict(parsed.mesh_axes or ()) if mesh is None else mesh.sizes
    count = math.prod(ref.size or sizes.get(ref.name, 1) for ref in parsed.unreduced)
    return tiles if count == 1 else replace(tiles, subgroups=(f"unreduced={count}",))


def sdy_problem(
    parsed: ParsedSdy, rank: int | None, role: str, meshes: Mapping[str, Mesh]
) -> str | None:
    """What Shardy's verifier would say of it when the program is compiled."""
    axes = parsed.mesh_axes
    if parsed.mesh_name is not None:
        mesh = meshes.get(parsed.mesh_name)
        if mesh is None:
            known = ", ".join(f"@{name}" for name in meshes) or "none"
            return f"the module has no mesh @{parsed.mesh_name}; it has {known}"
        axes = mesh.axes
    sizes = dict(axes or ())
    used: set[str] = set()
    for dim in parsed.dims:
        for ref in dim.axes:
            if ref.name not in sizes:
                return f"mesh axis {ref.name!r} is unknown; the mesh has {', '.join(sizes)}"
            if ref.name in used and ref.size is None:
                return f"mesh axis {ref.name!r} is used twice"
            used.add(ref.name)
    mesh = meshes.get(parsed.mesh_name or "")
    maximal = mesh is not None and mesh.is_maximal and not parsed.dims
    if rank is not None and len(parsed.dims) != rank and not maximal:
        return f"it has {len(parsed.dims)} dimensions, and the {role} has {rank}"
    return None


def gspmd(data: bytes, value: Value) -> Sharded:
    """Reads an `mhlo.sharding` of an argument or result, text or serialized."""
    text = data.decode(errors="backslashreplace")
    tiles = parse_gspmd(data, value.rank or 0)
    problem = tiles.problem
    if problem is None and tiles.kind in ("manual", "unreduced"):
        problem = f"the compiler dies of '{tiles.kind}' on an argument or result"
    if problem is None and tiles.kind == "unknown":
        problem = "'unknown' is taken for replicated"
    if not data.strip():
        problem = "an empty one is taken for replicated"
    if problem is not None:
        return Sharded("gspmd", text, problem=problem)
    return Sharded("gspmd", text, tiles, uneven=_undivided(tiles.tile, value), asked=tiles.tile)


def _undivided(counts: tuple[int, ...], value: Value) -> tuple[int, ...]:
    """The dimensions that do not divide into so many blocks."""
    shape = value.shape or ()
    if len(counts) != len(shape):
        return ()
    pairs = enumerate(zip(shape, counts, strict=True))
    return tuple(index for index, (size, count) in pairs if size % count)


def with_shards(values: tuple[Value, ...], shardings: Mapping[int, Sharded]) -> tuple[Value, ...]:
    """Arguments or results of a sharded program, with what a device holds of each."""
    return tuple(_with_shard(value, shardings.get(value.index)) for value in values)


def _with_shard(value: Value, sharding: Sharded | None) -> Value:
    if sharding is None or (sharding.open and sharding.is_replicated):
        return structs.replace(value, open=value.role == "result")
    if value.shape is None or value.bytes is None or sharding.is_replicated:
        return structs.replace(value, uneven=bool(sharding.uneven))
    size = sharding.shard_bytes(value.shape, value.bytes)
    return structs.replace(value, shard_bytes=size, uneven=bool(sharding.uneven))
