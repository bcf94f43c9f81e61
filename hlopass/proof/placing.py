"""Tensors go to devices: once, as the blocks that each of them holds. The one place for that."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec
import numpy as np

from hlopass.gspmd import ParsedTiles
from hlopass.proof import inputs, shards
from hlopass.proof.bound import Input, Lies
from hlopass.proof.client import refused
from hlopass.proof.executable import Executable
from hlopass.report import Transfers

Array = np.ndarray[Any, Any]
Order = tuple[int, ...]


@dataclass
class Ledger:
    """Counts what is read and moved where that happens, and beside it what must be.

    Bytes are those that numpy has: of elements that XLA packs, one for each.
    """

    counts: Transfers = field(default_factory=Transfers)

    def add(self, **counts: int) -> None:
        """Adds to some of the counts."""
        changed = {name: getattr(self.counts, name) + by for name, by in counts.items()}
        self.counts = msgspec.structs.replace(self.counts, **changed)

    def need(self, input_: Input, tiles: ParsedTiles, devices: int) -> None:
        """Counts the least for one tensor: read once, and each device gets what it holds."""
        part = shards.held(input_.shape, tiles)
        size = input_.dtype.itemsize * int(np.prod(part, dtype=object))
        self.add(least_bytes=size * devices, least_read_bytes=input_.bytes * input_.given)


class Placed:
    """A program's inputs on its devices, for one executable after another.

    What is there already, and lies as an executable reads it, is not moved again.
    """

    def __init__(self, found: Sequence[Input], label: str) -> None:
        self.inputs = found
        self.label = label
        self.ledger = Ledger()
        self._there = {at: each.there for at, each in enumerate(found) if each.there is not None}

    def on(self, executable: Executable, only: Sequence[int] | None = None) -> list[Any]:
        """An array for each argument; moves those that are not there, or were given away.

        `only`: for some arguments, by index. Raises HlopassError where the machine's memory does
        not suffice, or a file is damaged.
        """
        count, missing = executable.devices, []
        wanted = range(len(self.inputs)) if only is None else only
        for at in wanted:
            there = self._there.get(at)
            lie = lies(executable, at)
            if there is None or there[0] != lie or there[1].is_deleted():
                missing.append((at, lie))
                self.ledger.need(self.inputs[at], executable.arguments[at], count)
        what = f"the arguments on {count} devices" if count > 1 else "the arguments"
        inputs.check_memory(self.ledger.counts.least_bytes, what, self.label)
        devices = executable.loaded.client.local_devices()[:count]
        for at, lie in missing:
            with refused("place the inputs of", self.label):
                each, tiles = self.inputs[at], executable.arguments[at]
                array = put(each, tiles, lie.order, devices, self.ledger)
            self._there[at] = (lie, array)
        return [self._there[at][1] for at in wanted]


def lies(executable: Executable, at: int, results: bool = False) -> Lies:
    """How an executable reads an argument, or leaves a result; equal where one can be the other."""
    tiles = (executable.results if results else executable.arguments)[at]
    layouts = executable.result_layouts if results else executable.layouts
    order = None if layouts is None else layouts[at]
    plain = order is None or order == tuple(range(len(order)))
    return Lies(
        None if tiles.is_replicated else tiles, None if plain else order, executable.devices
    )


def put(
    input_: Input, tiles: ParsedTiles, order: Order | None, devices: Sequence[Any], ledger: Ledger
) -> Any:
    """A tensor on devices, in buffers that belong to the client.

    Each block is read once, and goes straight to the devices that hold it. `order`: the
    dimensions from major to minor as the program reads them. The CPU runtime checks the number
    of bytes only, and would read another order as other values.
    """
    assert input_.open is not None
    source = input_.open()
    part = shards.held(input_.shape, tiles)
    placed: dict[int, Any] = {}
    if input_.given and input_.whole:
        ledger.add(read_bytes=source.nbytes)
    for block, holders in shards.blocks(input_.shape, tiles, len(devices)):
        piece = np.asarray(source[block])
        if input_.given and not input_.whole:
            ledger.add(read_bytes=piece.nbytes)
        piece = in_order(shards.padded(_native(piece, input_.dtype), part), order)
        for device in holders:
            placed[device] = on_device(piece, devices[device])
            ledger.add(shards=1, bytes=piece.nbytes)
    ledger.add(tensors=1)
    return joined([placed[at] for at in range(len(devices))], devices)


def _native(piece: Array, dtype: np.dtype[Any]) -> Array:
    """A block as elements of a type: bytes without a type are its bits, others are swapped."""
    return piece.view(dtype) if piece.dtype.kind == "V" else piece.astype(dtype, copy=False)


def joined(placed: Sequence[Any], devices: Sequence[Any]) -> Any:
    """One array of which each device holds a block; blocks are of one shape.

    It says that they stand one below the other. The runtime does not read that, and a program
    gets what lies on its device; so blocks can be padded and repeated.
    """
    import jax

    if len(placed) == 1:
        return placed[0]
    mesh, block = jax.sharding.Mesh(np.asarray(devices), ("device",)), placed[0]
    below = jax.sharding.PartitionSpec("device") if block.ndim else jax.sharding.PartitionSpec()
    shape = (block.shape[0] * len(placed), *block.shape[1:]) if block.ndim else ()
    sharding = jax.sharding.NamedSharding(mesh, below)
    return jax.make_array_from_single_device_arrays(shape, sharding, list(placed))


def on_device(array: Array, device: Any) -> Any:
    """An array on one device, in a buffer that belongs to the client.

    A numpy array that is used in place cannot be reused by PJRT: donating it copies in
    silence. So a copy is asked for.
    """
    import jax
    from jaxlib import xla_client

    return xla_client.batched_device_put(
        jax.core.ShapedArray(array.shape, array.dtype),
        jax.sharding.SingleDeviceSharding(device),
        [array],
        [device],
        committed=True,
        force_copy=True,
        host_buffer_semantics=xla_client.HostBufferSemantics.IMMUTABLE_ONLY_DURING_CALL,
        enable_x64=True,
    )


def in_order(array: Array, order: Order | None) -> Array:
    """An array of the same shape whose elements lie as the array's would in that order."""
    if order is None or order == tuple(range(array.ndim)):
        return array
    return np.ascontiguousarray(array.transpose(order)).reshape(array.shape)


def place(arrays: Sequence[Array], layouts: Sequence[Order] | None = None) -> list[Any]:
    """Arrays on the first CPU device; `layouts`: for each, as `order` of `put`."""
    import jax

    device = jax.devices("cpu")[0]
    if layouts is not None:
        arrays = [in_order(array, order) for array, order in zip(arrays, layouts, strict=True)]
    return [on_device(array, device) for array in arrays]
