"""Where tensors lie over devices, as data: what an inspection shows of shardings. No MLIR.

Fields are added, never renamed; sizes are in bytes, shapes in elements.
"""

from __future__ import annotations

import msgspec

from hlopass.values import Role


class Layout(msgspec.Struct, frozen=True):
    """How an argument or a result lies over the devices.

    `blocks`: into how many blocks each dimension is split; `shard_shape` is that of the first
    one, rounded up, and None where the shape is dynamic. `device_bytes`: what each device that
    holds a block allocates, None where that is not known. `copies`: how many devices hold each
    block, and `replicated_over` the axes of the mesh that tell them apart, None where the
    program counts devices without axes. `replicated_bytes`: on all devices, beyond the bytes of
    one copy of the tensor; padding counts. `open`: propagation may split it further, and what
    is here is the most that it takes.
    """

    blocks: tuple[int, ...]
    shard_shape: tuple[int, ...] | None
    device_bytes: int | None
    copies: int
    replicated_over: tuple[str, ...] | None
    replicated_bytes: int | None
    open: bool = False


class Held(msgspec.Struct, frozen=True):
    """The bytes that each device holds, of tensors whose size is known.

    `reused`: of the results, what lies over arguments that are donated to them; a donor's
    result is not known before compiling. `total` is arguments and results without it.
    `replicated`: on all devices together, beyond one copy of each tensor in `total`.
    """

    arguments: int = 0
    results: int = 0
    reused: int = 0
    total: int = 0
    replicated: int = 0


class Picture(msgspec.Struct, frozen=True):
    """The devices that hold each block of a tensor.

    `tile`: the number of blocks along each dimension; `blocks`: the ids of the devices of each
    block, blocks in row-major order. `over`: the mesh, or how many devices there are.
    """

    role: Role
    index: int
    name: str | None
    shape: tuple[int, ...]
    tile: tuple[int, ...]
    blocks: tuple[tuple[int, ...], ...]
    over: str

    def text(self, width: int = 100, ascii: bool = False) -> str:
        """A drawing of at most `width` columns, or a little more where names are long.

        `ascii`: without the characters that draw boxes.
        """
        from hlopass.shard_picture import draw

        return draw(self, width, ascii)
