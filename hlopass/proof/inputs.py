"""Made-up inputs, by type and seed."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import Any

import ml_dtypes
import numpy as np

from hlopass.diagnostics import Diagnostic, HlopassError, Where
from hlopass.values import Value

Array = np.ndarray[Any, Any]
Order = tuple[int, ...]

_NAMES = {"i1": "bool", "f16": "float16", "f32": "float32", "f64": "float64", "bf16": "bfloat16"}
_NAMES |= {f"i{bits}": f"int{bits}" for bits in (2, 4, 8, 16, 32, 64)}
_NAMES |= {f"ui{bits}": f"uint{bits}" for bits in (2, 4, 8, 16, 32, 64)}
_NAMES |= {"complex<f32>": "complex64", "complex<f64>": "complex128"}
_SMALL_FLOAT = re.compile(r"f([468])(E\w+)")
_HINT = "verify it without running it: --compile-only"


def dtype_of(type_: str) -> np.dtype[Any] | None:
    """The numpy type of the elements of a type such as `tensor<4xbf16>`; None without one.

    MLIR's `f8E4M3FN` is `float8_e4m3fn` of ml_dtypes.
    """
    element = re.sub(r"^tensor<(?:\d+x)*|>$", "", type_)
    name = _NAMES.get(element, "")
    small = _SMALL_FLOAT.fullmatch(element)
    if small is not None:
        name = f"float{small[1]}_{small[2].lower()}"
    found = getattr(ml_dtypes, name, None) or getattr(np, name, None) if name else None
    return None if found is None else np.dtype(found)


def make(arguments: Sequence[Value], seed: int, label: str) -> list[Array]:
    """An array for each argument: floats in (0, 1], integers in 0 to 3, booleans.

    The values keep logarithms and roots finite and indices small. A token is an array of
    no elements, as JAX passes it. Raises HlopassError naming every argument whose type has
    no numpy counterpart, or where memory does not suffice.
    """
    kinds = [_shape_and_dtype(argument) for argument in arguments]
    found = [
        _cannot_make_up(argument, label)
        for argument, (shape, dtype) in zip(arguments, kinds, strict=True)
        if shape is None or dtype is None
    ]
    if found:
        raise HlopassError(found)
    check_memory(sum(argument.bytes or 0 for argument in arguments), "the arguments", label)
    return [
        _values(np.random.default_rng([seed, argument.index]), shape, dtype)
        for argument, (shape, dtype) in zip(arguments, kinds, strict=True)
        if shape is not None and dtype is not None
    ]


def _cannot_make_up(argument: Value, label: str) -> Diagnostic:
    reason = argument.obstacle or "numpy has no such element type"
    message = f"cannot make up {argument} of type {argument.type}: {reason}"
    hint = "give it a static shape: XLA compiles no other for the CPU"
    where = argument.where or Where(label)
    return Diagnostic("input-type", message, where, help=hint if "?" in argument.type else _HINT)


def _shape_and_dtype(argument: Value) -> tuple[tuple[int, ...] | None, np.dtype[Any] | None]:
    if argument.type.endswith(".token"):
        return (0,), np.dtype(bool)
    return argument.shape, dtype_of(argument.type)


def _values(generator: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    """Made-up values; no array is made that is not needed, as touching new memory is slow."""
    if dtype.kind == "b":
        return np.asarray(generator.integers(0, 2, shape, dtype=bool))
    if dtype.kind in "iu" or dtype.name.startswith(("int", "uint")):
        most = 2 if dtype.name in ("int2", "uint2") else 4
        return np.asarray(generator.integers(0, most, shape, dtype=np.int8)).astype(dtype)
    values = np.asarray(generator.random(shape, dtype=np.float32))
    np.subtract(1, values, out=values)
    if dtype.kind == "c":
        return (values + 1j * generator.random(shape, dtype=np.float32)).astype(dtype, copy=False)
    return values.astype(dtype, copy=False)


def place(arrays: Sequence[Array], layouts: Sequence[Order] | None = None) -> list[Any]:
    """The arrays on the first CPU device; as `place_shards` otherwise."""
    import jax

    return place_shards([[array] for array in arrays], jax.devices("cpu"), layouts)


def place_shards(
    blocks: Sequence[Sequence[Array]],
    devices: Sequence[Any],
    layouts: Sequence[Order] | None = None,
) -> list[Any]:
    """What each device is to hold of each argument, in buffers that belong to the client.

    A numpy array that is used in place cannot be reused by PJRT: donating it copies in
    silence. So a copy is asked for. `layouts`: for each argument, its dimensions from major to
    minor as the program reads them. The CPU runtime checks the number of bytes only, and would
    read another order as other values.
    """
    if layouts is not None:
        blocks = [
            [_in_order(block, order) for block in each]
            for each, order in zip(blocks, layouts, strict=True)
        ]
    return [_placed(each, devices[: len(each)]) for each in blocks]


def _placed(blocks: Sequence[Array], devices: Sequence[Any]) -> Any:
    """One array of which each device holds a block; blocks are of one shape.

    It says that they stand one below the other. The runtime does not read that, and a program
    gets what lies on its device; so blocks can be padded and repeated.
    """
    import jax

    placed = [_on(device, block) for device, block in zip(devices, blocks, strict=True)]
    if len(placed) == 1:
        return placed[0]
    mesh, block = jax.sharding.Mesh(np.asarray(devices), ("device",)), blocks[0]
    below = jax.sharding.PartitionSpec("device") if block.ndim else jax.sharding.PartitionSpec()
    shape = (block.shape[0] * len(blocks), *block.shape[1:]) if block.ndim else ()
    sharding = jax.sharding.NamedSharding(mesh, below)
    return jax.make_array_from_single_device_arrays(shape, sharding, placed)


def _on(device: Any, array: Array) -> Any:
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


def check_memory(needed: int, what: str, label: str) -> None:
    """Raises HlopassError where `needed` bytes are more than the machine's memory.

    Making them up would let the machine swap before the kernel ends the process.
    """
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    if needed > memory:
        message = f"{what} take {needed} bytes, and this machine has {memory} bytes of memory"
        raise HlopassError(Diagnostic("out-of-memory", message, Where(label), help=_HINT))


def _in_order(array: Array, order: Order) -> Array:
    """An array of the same shape whose elements lie as the array's would in that order."""
    if order == tuple(range(array.ndim)):
        return array
    return np.ascontiguousarray(array.transpose(order)).reshape(array.shape)
