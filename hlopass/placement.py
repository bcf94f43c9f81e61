"""Where the arguments and results of a program lie over the devices, and what that takes.

Nothing here knows MLIR: shardings come as they were read (`sharded.Sharded`).
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from hlopass import common_mesh
from hlopass.diagnostics import Diagnostic, HlopassError, Where
from hlopass.gspmd import MOST_DEVICES
from hlopass.layout import Mesh, ParsedSdy, ParsedTiles, TensorSharding
from hlopass.report import Inspected
from hlopass.sdy_text import ParsedDim
from hlopass.shard_report import Held, Layout, Picture
from hlopass.sharded import Sharded
from hlopass.values import Value, select


@dataclass(frozen=True)
class Placement:
    """The shardings of a program's arguments and results by index, and its devices.

    `meshes` are the program's own, by name; `axes` a mesh of the same devices whose axes name
    what GSPMD only counts. `given`: how many devices there are where the program does not say.
    `closed`: propagation has been, and splits nothing further.
    """

    arguments: Mapping[int, Sharded]
    results: Mapping[int, Sharded]
    meshes: Mapping[str, Mesh] = field(default_factory=dict)
    partitions: int = 1
    axes: Mesh | None = None
    given: int | None = None
    closed: bool = False

    @functools.cached_property
    def named_devices(self) -> int | None:
        """How many devices the program is for; None where it says nothing of that."""
        shardings = (*self.arguments.values(), *self.results.values())
        counts = [each.devices for each in shardings if each.devices is not None]
        counts += [mesh.size for mesh in self.meshes.values() if not mesh.is_maximal]
        counts += [self.partitions] if self.partitions > 1 else []
        return max(counts, default=None)

    @property
    def devices(self) -> int:
        """The number of devices; 1 where nobody says."""
        return self.named_devices or self.given or 1

    @functools.cached_property
    def _everywhere(self) -> tuple[int, ...]:
        return tuple(range(self.devices))

    def of(self, value: Value) -> Sharded | None:
        """The sharding of an argument or a result."""
        shardings = self.arguments if value.role == "argument" else self.results
        return shardings.get(value.index)

    def layout(self, value: Value) -> Layout | None:
        """Where a value lies; None where the compiler does not take its sharding."""
        tiles = self._tiles(value)
        if tiles is None:
            return None
        sharding, shape, size = self.of(value), value.shape, value.bytes
        if sharding is not None and value.shape is not None:
            shape = sharding.shard_shape(value.shape)
            size = None if size is None else sharding.shard_bytes(value.shape, size)
        on_all = None if size is None else size * sum(map(len, tiles.blocks))
        return Layout(
            blocks=tiles.tile,
            shard_shape=shape,
            device_bytes=size,
            copies=len(tiles.blocks[0]),
            replicated_over=self._replicated_over(tiles, sharding),
            replicated_bytes=None if on_all is None else on_all - (value.bytes or 0),
            open=self._is_open(sharding),
        )

    def _is_open(self, sharding: Sharded | None) -> bool:
        """Whether propagation may split a value further; of nothing it makes nothing."""
        if self.closed or self.named_devices is None:
            return False
        return sharding is None or sharding.open

    def picture(self, value: Value) -> Picture:
        """The devices of each block of a value. Raises HlopassError where they are not known."""
        tiles = self._tiles(value)
        if value.shape is None or tiles is None:
            why = "the compiler does not take its sharding" if tiles is None else value.type
            message = f"cannot draw {value}: {why if tiles is None else f'it is {why}'}"
            hint = None if tiles is None else "tensors whose shape is known can be drawn"
            raise HlopassError(Diagnostic("picture-impossible", message, value.where, help=hint))
        sharding = self.of(value)
        mesh = self._mesh(sharding)
        over = f"{self.devices} devices" if mesh is None else str(mesh)
        return Picture(
            value.role, value.index, value.name, value.shape, tiles.tile, tiles.blocks, over
        )

    def _tiles(self, value: Value) -> ParsedTiles | None:
        """The blocks of a value with their devices; what is not split lies on all of them."""
        sharding = self.of(value)
        if sharding is not None and sharding.tiles is None:
            return None
        if sharding is None or sharding.tiles is None or sharding.is_replicated:
            return ParsedTiles("tiled", (1,) * len(value.shape or ()), (self._everywhere,))
        return sharding.tiles

    def _mesh(self, sharding: Sharded | None) -> Mesh | None:
        """The mesh that a value is sharded over; the only one, where it does not say."""
        if sharding is not None and sharding.sharding is not None:
            return sharding.sharding.mesh
        meshes = [mesh for mesh in self.meshes.values() if not mesh.is_maximal]
        return meshes[0] if len(meshes) == 1 else self.axes

    def _replicated_over(
        self, tiles: ParsedTiles, sharding: Sharded | None
    ) -> tuple[str, ...] | None:
        """The axes that tell apart the devices of a block."""
        mesh = self._mesh(sharding)
        split = None if sharding is None else sharding.sharding
        if len(tiles.blocks[0]) == 1:
            return ()
        if split is None and mesh is not None:
            split = _over(tiles, mesh)
        if split is None:
            return None
        return tuple(name for name, size in split.mesh.axes if size > 1 and name not in split.axes)


def _over(tiles: ParsedTiles, mesh: Mesh) -> TensorSharding | None:
    """Blocks in terms of a mesh's axes; None where those do not say them."""
    refs = common_mesh.over(tiles, mesh)
    if refs is None:
        return None
    dims = tuple(ParsedDim(axes, False) for axes in refs)
    return TensorSharding.from_sdy(ParsedSdy(None, mesh.axes, mesh.device_ids, dims))


def held(arguments: Iterable[Inspected], results: Iterable[Inspected]) -> Held:
    """What each device holds of all arguments and results."""
    arguments, results = tuple(arguments), tuple(results)
    over = [each for each in results if each.reuses is not None]
    own = [*arguments, *(each for each in results if each.reuses is None)]
    reused = sum(map(_bytes, over))
    taken, made = sum(map(_bytes, arguments)), sum(map(_bytes, results))
    return Held(
        taken,
        made,
        reused,
        taken + made - reused,
        sum(each.layout.replicated_bytes or 0 for each in own if each.layout is not None),
    )


def _bytes(value: Inspected) -> int:
    return 0 if value.layout is None else value.layout.device_bytes or 0


def selected(
    names: Iterable[int | str], arguments: Sequence[Value], results: Sequence[Value]
) -> list[Value]:
    """The arguments and results that selectors mean, each once, arguments first.

    A selector is that of a manifest, and means what it finds among arguments and among results.
    Raises HlopassError with every one that finds nothing.
    """
    found: dict[tuple[str, int], Value] = {}
    errors: list[Diagnostic] = []
    where = Where("--picture")
    for name in names:
        missing: list[Diagnostic] = []
        roles: tuple[tuple[Sequence[Value], Literal["argument", "result"]], ...]
        roles = ((arguments, "argument"), (results, "result"))
        for values, role in roles:
            try:
                meant = select(name, values, role, where).values
            except HlopassError as error:
                missing += error.diagnostics
                continue
            found |= {(role, value.index): value for value in meant}
        errors += missing if len(missing) == len(roles) else []
    if errors:
        raise HlopassError(errors)
    return [found[key] for key in sorted(found)]


def differing_pairs(placement: Placement, pairs: Iterable[tuple[Value, Value]]) -> list[Diagnostic]:
    """A warning for each argument and its result whose shards, now known, differ in size."""
    warnings = []
    for argument, result in pairs:
        mine, its = placement.layout(argument), placement.layout(result)
        if mine is None or its is None or mine.device_bytes == its.device_bytes:
            continue
        message = f"{argument} is donated to {result}, and propagation gives them shards of"
        message += f" {mine.device_bytes} and {its.device_bytes} bytes: XLA refuses the program"
        hint = f"give {result} the sharding of {argument}, as results that follow get"
        where = argument.where
        warnings.append(Diagnostic("shard-pair-differs", message, where, "warning", help=hint))
    return warnings


def check_devices(placement: Placement, where: Where) -> None:
    """Raises HlopassError where other devices are given than the program says, or too many."""
    given, named = placement.given, placement.named_devices
    if given is not None and not 1 <= given <= MOST_DEVICES:
        message = f"{given} devices are given; legal are 1 to {MOST_DEVICES}"
        raise HlopassError(Diagnostic("mesh-devices", message))
    if given is None or named in (None, given):
        return
    message = f"the program is for {named} devices, and {given} are given"
    hint = f"inspect it for {named}; strip-sharding makes a program that is for any number"
    raise HlopassError(Diagnostic("mesh-devices", message, where, help=hint))
