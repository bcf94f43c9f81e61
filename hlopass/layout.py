"""Where the blocks of a sharded tensor lie: meshes and shardings. No MLIR.

The rules are Shardy's (shardy/dialect/sdy/ir/attrs.td and verifiers.cc): devices are counted
row-major over the axes of a mesh, and a dimension split over several axes has the first of
them as the major one. What becomes of an argument's or result's dimension that its axes do not
divide depends on the partitioner: GSPMD rounds blocks up (`HloSharding::TileShape`), so that
the last ones are smaller or empty, and so does this module; Shardy splits it into fewer blocks,
which `TensorSharding.even` tells.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from hlopass import gspmd, sdy_text
from hlopass.gspmd import ParsedTiles
from hlopass.mesh import Mesh
from hlopass.sdy_text import ParsedDim, ParsedSdy, parse_sdy

__all__ = [
    "DimSharding",
    "Mesh",
    "ParsedSdy",
    "ParsedTiles",
    "TensorSharding",
    "element_bits",
    "parse_gspmd",
    "parse_sdy",
]


_NAMED = re.compile(
    r"\{\s*mesh\s*\[(?P<axes>[^\]]*)\]\s*,\s*(?P<order>device_ids\s*=[^\[]*(?:\[[^{]*)?,\s*)?"
    r"(?:replicated|(?P<dims>\[.*\][^\]]*))\}",
    re.DOTALL,
)


def parse_gspmd(text: str | bytes, rank: int) -> ParsedTiles:
    """Reads an `mhlo.sharding` of a tensor of `rank` dimensions; see `gspmd.parse_gspmd`.

    Also in the form that names its axes, `{mesh['a'=4,'b'=2], [{'a'}, {}]}` (`NamedSharding` in
    xla/hlo/ir), which newer XLA reads and prints.
    """
    data = text.encode(errors="surrogateescape") if isinstance(text, str) else text
    found = _NAMED.fullmatch(data.decode(errors="replace").strip())
    if found is None:
        return gspmd.parse_gspmd(data, rank)
    if found["dims"] is None:
        return ParsedTiles("replicated")
    if found["order"]:
        return ParsedTiles("unparsable", problem="its order of devices is not read by hlopass")
    shardy = f"<mesh<[{found['axes']}]>, {found['dims']}>".replace("'", '"')
    partial = re.search(r"\b(manual|unreduced)\s*=", found["dims"])
    parsed = parse_sdy(re.sub(r",\s*manual\s*=\s*\{[^}]*\}", "", shardy))
    sharding = None if parsed is None else TensorSharding.from_sdy(parsed)
    if parsed is None or sharding is None:
        return ParsedTiles("unparsable", problem="it is no sharding over axes of its mesh")
    if len(sharding.dims) != rank:
        dims = len(sharding.dims)
        return ParsedTiles("tiled", problem=f"it has {dims} dimensions, the tensor {rank}")
    return replace(sharding.tiles(), subgroups=(partial[1],) if partial else ())


@dataclass(frozen=True)
class DimSharding:
    """The mesh axes that split one dimension, the major one first.

    `open`: Shardy's propagation may split it further.
    """

    axes: tuple[str, ...] = ()
    open: bool = False

    def to_sdy(self) -> str:
        """The text within a sharding: `{}`, `{"data"}`, `{"data", ?}`, `{?}`."""
        parts = [sdy_text.string(axis) for axis in self.axes] + ["?"] * self.open
        return "{" + ", ".join(parts) + "}"


@dataclass(frozen=True)
class TensorSharding:
    """How a tensor is split over a mesh, with an entry for each dimension.

    Raises ValueError for an axis that the mesh lacks or that stands twice.
    """

    mesh: Mesh
    dims: tuple[DimSharding, ...]

    def __post_init__(self) -> None:
        used = self.axes
        if len(set(used)) != len(used) or set(used) - self.mesh.sizes.keys():
            raise ValueError(f"axes {used} are not distinct axes of {self.mesh}")

    @classmethod
    def from_sdy(cls, parsed: ParsedSdy, mesh: Mesh | None = None) -> TensorSharding | None:
        """The sharding that an attribute means; None where the mesh has no such axes.

        `mesh` is that of the name in the attribute. Where parts of an axis are used, those
        parts are axes of the result's mesh: it compares with others, and is not to be written.
        """
        if parsed.mesh_axes is not None:
            mesh = Mesh(parsed.mesh_axes, parsed.device_ids)
        if mesh is None:
            return None
        cut = sdy_text.cut_axes(mesh.axes, [ref for dim in parsed.dims for ref in dim.axes])
        if cut is None:
            return None
        axes, parts = cut
        dims = (
            DimSharding(tuple(part for ref in dim.axes for part in parts[ref]), dim.open)
            for dim in parsed.dims
        )
        try:
            return cls(Mesh(axes, mesh.device_ids), tuple(dims))
        except ValueError:
            return None

    @property
    def axes(self) -> tuple[str, ...]:
        """The axes that split the tensor, in the order of its dimensions."""
        return tuple(axis for dim in self.dims for axis in dim.axes)

    @property
    def counts(self) -> tuple[int, ...]:
        """The number of blocks along each dimension."""
        sizes = self.mesh.sizes
        return tuple(math.prod(sizes[axis] for axis in dim.axes) for dim in self.dims)

    @property
    def open_dims(self) -> tuple[int, ...]:
        """The dimensions that propagation may split further."""
        return tuple(index for index, dim in enumerate(self.dims) if dim.open)

    @property
    def is_replicated(self) -> bool:
        """Whether every device holds the whole tensor, unless propagation splits it."""
        return math.prod(self.counts) == 1

    def even(self, shape: Sequence[int]) -> TensorSharding:
        """What Shardy makes of it for an argument or result of this shape: all blocks are equal.

        As of `from_sdy`, where an axis is cut the result is over a finer mesh.
        """
        sizes = self.mesh.sizes
        dims = tuple(
            ParsedDim(sdy_text.dividing(dim.axes, sizes, size), dim.open)
            for dim, size in zip(self.dims, shape, strict=True)
        )
        parsed = ParsedSdy(None, self.mesh.axes, self.mesh.device_ids, dims)
        return TensorSharding.from_sdy(parsed) or self

    def over(self, mesh: Mesh) -> TensorSharding:
        """The same sharding over a mesh of the same devices, its axes taken by their places."""
        names = {old: new for (old, _), (new, _) in zip(self.mesh.axes, mesh.axes, strict=True)}
        dims = (DimSharding(tuple(names[axis] for axis in dim.axes), dim.open) for dim in self.dims)
        return TensorSharding(mesh, tuple(dims))

    def shard_shape(self, shape: Sequence[int]) -> tuple[int, ...]:
        """The shape of the first device's block, rounded up. ValueError for another rank."""
        if len(shape) != len(self.dims):
            raise ValueError(f"{len(shape)} dimensions for a sharding of {len(self.dims)}")
        return tuple(-(-size // n) for size, n in zip(shape, self.counts, strict=True))

    def shard_bytes(self, shape: Sequence[int], bits: int) -> int:
        """The bytes of a block of elements of `bits` bits, packed, as each device allocates it.

        Raises ValueError for another rank.
        """
        return (math.prod(self.shard_shape(shape)) * bits + 7) // 8

    def blocks(self) -> list[tuple[int, ...]]:
        """The block that each device holds, by its index along each dimension.

        Devices are in the order of their ids.
        """
        names = [name for name, _ in self.mesh.axes]
        steps = itertools.product(*(range(size) for _, size in self.mesh.axes))
        counted = (self._block(dict(zip(names, step, strict=True))) for step in steps)
        return [block for _, block in sorted(zip(self.mesh.ids, counted, strict=True))]

    def _block(self, step: dict[str, int]) -> tuple[int, ...]:
        sizes = self.mesh.sizes
        found = []
        for dim in self.dims:
            index = 0
            for axis in dim.axes:
                index = index * sizes[axis] + step[axis]
            found.append(index)
        return tuple(found)

    def device_indices(self, shape: Sequence[int]) -> list[tuple[slice, ...]]:
        """The part of a tensor of this shape that each device holds, devices by their ids.

        Blocks past the end are empty slices there. Raises ValueError for another rank.
        """
        part = self.shard_shape(shape)
        return [
            tuple(
                slice(min(index * step, size), min((index + 1) * step, size))
                for index, step, size in zip(block, part, shape, strict=True)
            )
            for block in self.blocks()
        ]

    def tiles(self) -> ParsedTiles:
        """The placement alone, to compare with one that was read."""
        held: dict[tuple[int, ...], list[int]] = {}
        for device, block in zip(sorted(self.mesh.ids), self.blocks(), strict=True):
            held.setdefault(block, []).append(device)
        groups = tuple(tuple(held[block]) for block in sorted(held))
        return ParsedTiles("maximal" if self.mesh.is_maximal else "tiled", self.counts, groups)

    def same_layout(self, other: TensorSharding) -> bool:
        """Whether both put equal blocks on equal devices, however written, open or not."""
        if self.mesh.size != other.mesh.size or len(self.dims) != len(other.dims):
            return False
        if self.mesh == other.mesh:
            return self._split_over() == other._split_over()
        if self.mesh.is_maximal or other.mesh.is_maximal:
            return sorted(self.mesh.ids) == sorted(other.mesh.ids)
        return self.counts == other.counts and self.tiles().same_as(other.tiles())

    def _split_over(self) -> list[list[str]]:
        sizes = self.mesh.sizes
        return [[axis for axis in dim.axes if sizes[axis] > 1] for dim in self.dims]

    def to_sdy(self, mesh_name: str) -> str:
        """The attribute's text: `#sdy.sharding<@mesh, [{"data"}, {"model", ?}, {}]>`."""
        dims = ", ".join(dim.to_sdy() for dim in self.dims)
        return f"#sdy.sharding<{sdy_text.symbol(mesh_name)}, [{dims}]>"

    def to_gspmd(self) -> str:
        """The `mhlo.sharding` that JAX writes: `{devices=[4,1,2]<=[8] last_tile_dim_replicate}`.

        It cannot say that dimensions are open: where there are `open_dims`, the caller allows
        propagation to the argument or result when compiling.
        """
        if self.mesh.is_maximal:
            return f"{{maximal device={self.mesh.ids[0]}}}"
        if self.is_replicated:
            return "{replicated}"
        copies = self.mesh.size // math.prod(self.counts)
        tile = [*self.counts, copies] if copies > 1 else list(self.counts)
        if self.mesh.is_reordered:
            devices = list(itertools.chain.from_iterable(self.tiles().blocks))
            return gspmd.write_listed(tile, devices, copies > 1)
        names = [name for name, _ in self.mesh.axes]
        rest = [name for name in names if name not in self.axes]
        order = [names.index(axis) for axis in (*self.axes, *rest)]
        return gspmd.write(tile, list(self.mesh.sizes.values()), order, copies > 1)


def element_bits(shape: Sequence[int], size: int) -> int:
    """The bits of an element of a whole tensor of `size` bytes, packed where below 8.

    Where two widths fit, as 2 and 4 bits for two elements in a byte, every shard has one byte
    by either. 0 for a tensor without elements.
    """
    count = math.prod(shape)
    if count == 0:
        return 0
    narrow = (bits for bits in (2, 4) if (count * bits + 7) // 8 == size)
    return next(narrow, size * 8 // count)
