"""A sharding of one dialect in the words of the other, and what cannot be said. No MLIR."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from hlopass import common_mesh, gspmd, sdy_text
from hlopass.gspmd import ParsedTiles
from hlopass.layout import Mesh, TensorSharding, parse_gspmd
from hlopass.sdy_text import ParsedDim
from hlopass.sharded import sdy_problem

Shape = tuple[int, ...] | None

OPEN = "open dimensions"
PRIORITY = "priorities"
_GROUPS = re.compile(rb"\b(shard_as|shard_like)\b")


@dataclass(frozen=True)
class Read:
    """A sharding as it was read.

    `problem`: the compiler does not take it; `unsaid`: the other dialect has no word for it;
    `lost`: what the other dialect leaves out. `sharding` is over axes, of Shardy's only.
    """

    tiles: ParsedTiles | None = None
    sharding: TensorSharding | None = None
    open: tuple[int, ...] = ()
    problem: str | None = None
    unsaid: str | None = None
    lost: frozenset[str] = frozenset()

    @property
    def says_nothing(self) -> bool:
        """Whether it leaves every dimension to propagation, as no sharding would."""
        tiles = self.tiles
        whole = tiles is not None and tiles.kind == "tiled" and tiles.is_replicated
        return whole and tiles is not None and len(self.open) == len(tiles.tile) > 0


def from_shardy(text: str, shape: Shape, meshes: Mapping[str, Mesh], edge: bool) -> Read:
    """Reads an `sdy.sharding`; `edge`: of the program's own argument or result.

    There Shardy splits a dimension only as far as its axes divide it.
    """
    parsed = sdy_text.parse_sdy(text)
    if parsed is None:
        return Read(problem="it is no sharding")
    mesh = meshes.get(parsed.mesh_name or "")
    maximal = mesh is not None and mesh.is_maximal and not parsed.dims
    rank = None if shape is None or maximal else len(shape)
    problem = sdy_problem(parsed, rank, "value", meshes)
    sharding = None if problem else TensorSharding.from_sdy(parsed, mesh)
    if sharding is None:
        return Read(problem=problem or "its axes are not distinct axes of the mesh")
    if edge and shape is not None and not maximal and min(shape, default=0) >= 0:
        sharding = sharding.even(shape)
    priorities = any(dim.priority is not None for dim in parsed.dims)
    return Read(
        sharding.tiles(),
        sharding,
        sharding.open_dims,
        unsaid="unreduced axes" if parsed.unreduced else None,
        lost=frozenset([PRIORITY] if priorities else []),
    )


def from_gspmd(text: bytes, rank: int, unspecified: tuple[int, ...], placed: bool) -> Read:
    """Reads an `mhlo.sharding` of one value; `placed`: an operation may run on one device."""
    tiles = parse_gspmd(text, rank)
    group = _GROUPS.search(text)
    unsaid = None
    if tiles.problem is None and tiles.kind not in ("tiled", "replicated", "maximal"):
        unsaid = f"a sharding that is {tiles.kind}"
    if tiles.subgroups:
        unsaid = f"devices of a block that differ ({', '.join(tiles.subgroups)})"
    if group is not None:
        unsaid = f"a group of shardings ({group[1].decode()})"
    if tiles.kind == "maximal" and not placed:
        unsaid = "one device for a value, rather than for an operation"
    if tiles.problem is None and any(dim >= rank for dim in unspecified):
        return Read(problem=f"it leaves dimension {max(unspecified)} open, and has {rank}")
    if tiles.problem is not None and unsaid is None:
        return Read(problem=tiles.problem)
    if tiles.kind == "replicated":
        tiles = ParsedTiles("replicated", (1,) * rank)
    return Read(tiles, open=unspecified, unsaid=unsaid)


def texts_of(data: bytes, count: int) -> list[bytes] | None:
    """The shardings in an `mhlo.sharding` of so many values; None where their number differs.

    Without a tuple, what is of no devices, or of one, is of every value.
    """
    if count == 1 and not gspmd.is_tuple(data):
        return [data]
    parts = gspmd.elements(data)
    if parts is None:
        tiles = gspmd.parse_gspmd(data, 0)
        alike = tiles.kind in ("replicated", "maximal", "manual", "unknown")
        return [data] * max(count, 1) if alike and not gspmd.is_tuple(data) else None
    return parts if len(parts) == count else None


def to_gspmd(reads: Sequence[Read]) -> str | None:
    """The `mhlo.sharding` of an operation's results; None where nothing is to be said."""
    if all(read.says_nothing for read in reads):
        return None
    texts = [read.sharding.to_gspmd() for read in reads if read.sharding is not None]
    if len(texts) == 1 or (len(set(texts)) == 1 and texts[0].startswith("{maximal")):
        return texts[0]
    return "{" + ", ".join(texts) + "}"


def to_shardy(read: Read, mesh: Mesh, name: str) -> str:
    """The `#sdy.sharding` over a mesh that says the tiling, or over that of its one device."""
    tiles = read.tiles
    assert tiles is not None
    if tiles.kind == "maximal":
        return sdy_text.write_sharding(maximal_name(tiles.blocks[0][0]), [])
    dims = common_mesh.over(tiles, mesh)
    assert dims is not None, "the mesh was found for all tilings"
    return sdy_text.write_sharding(
        name, [ParsedDim(axes, dim in read.open) for dim, axes in enumerate(dims)]
    )


def maximal_name(device: int) -> str:
    """The mesh of one device, as JAX calls it."""
    return f"maximal_mesh_{device}"


def devices(reads: Iterable[Read]) -> set[int]:
    """The numbers of devices that shardings name."""
    found = set()
    for read in reads:
        if read.sharding is not None and not read.sharding.mesh.is_maximal:
            found.add(read.sharding.mesh.size)
        elif read.sharding is None and read.tiles is not None and read.tiles.kind == "tiled":
            found.add(sum(map(len, read.tiles.blocks)))
    return found
