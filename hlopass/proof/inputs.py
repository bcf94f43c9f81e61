"""Made-up inputs, by type and seed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import ml_dtypes
import numpy as np

from hlopass.diagnostics import Diagnostic, HlopassError, Where
from hlopass.values import Value

_NAMES = {"i1": "bool", "f16": "float16", "f32": "float32", "f64": "float64", "bf16": "bfloat16"}
_NAMES |= {f"i{bits}": f"int{bits}" for bits in (2, 4, 8, 16, 32, 64)}
_NAMES |= {f"ui{bits}": f"uint{bits}" for bits in (2, 4, 8, 16, 32, 64)}
_NAMES |= {"complex<f32>": "complex64", "complex<f64>": "complex128"}
_SMALL_FLOAT = re.compile(r"f([468])(E\w+)")


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


def make(arguments: Sequence[Value], seed: int, label: str) -> list[np.ndarray[Any, Any]]:
    """An array for each argument: floats in (0, 1], integers in 0 to 3, booleans.

    The values keep logarithms and roots finite and indices small. Raises HlopassError
    naming every argument whose type has no numpy counterpart.
    """
    found = []
    arrays = []
    for argument in arguments:
        dtype = dtype_of(argument.type)
        if argument.shape is None or dtype is None:
            reason = argument.obstacle or "numpy has no such element type"
            message = f"cannot make up {argument} of type {argument.type}: {reason}"
            where = argument.where or Where(label)
            found.append(Diagnostic("input-type", message, where))
            continue
        generator = np.random.default_rng([seed, argument.index])
        arrays.append(_values(generator, argument.shape, dtype))
    if found:
        raise HlopassError(found)
    return arrays


def _values(
    generator: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype[Any]
) -> np.ndarray[Any, Any]:
    if dtype.kind == "b":
        return generator.integers(0, 2, shape).astype(bool)
    if dtype.kind in "iu" or dtype.name.startswith(("int", "uint")):
        most = 2 if dtype.name in ("int2", "uint2") else 4
        return generator.integers(0, most, shape, dtype=np.int8).astype(dtype)
    values = 1.0 - generator.random(shape, dtype=np.float32)
    if dtype.kind == "c":
        return (values + 1j * generator.random(shape, dtype=np.float32)).astype(dtype)
    return values.astype(dtype)


def place(arrays: Sequence[np.ndarray[Any, Any]]) -> list[Any]:
    """The arrays on the first device, in buffers that belong to the client.

    A numpy array that is used in place cannot be reused by PJRT: donating it copies in
    silence. So a copy is asked for.
    """
    import jax
    from jaxlib import xla_client

    device = jax.devices("cpu")[0]
    sharding = jax.sharding.SingleDeviceSharding(device)
    copied = xla_client.HostBufferSemantics.IMMUTABLE_ONLY_DURING_CALL
    return [
        xla_client.batched_device_put(
            jax.core.ShapedArray(array.shape, array.dtype),
            sharding,
            [array],
            [device],
            committed=True,
            force_copy=True,
            host_buffer_semantics=copied,
            enable_x64=True,
        )
        for array in arrays
    ]
