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
    known = hasattr(ml_dtypes, name) or hasattr(np, name)
    return dtype_named(name) if name and known else None


def dtype_named(name: str) -> np.dtype[Any]:
    """The type that numpy or ml_dtypes calls so."""
    found: np.dtype[Any] = np.dtype(getattr(ml_dtypes, name, None) or getattr(np, name))
    return found


def make(arguments: Sequence[Value], seed: int, label: str) -> list[Array]:
    """An array for each argument: floats in (0, 1], integers in 0 to 3, booleans.

    The values keep logarithms and roots finite and indices small. A token is an array of
    no elements, as JAX passes it. Raises HlopassError naming every argument whose type has
    no numpy counterpart, or where memory does not suffice.
    """
    found = [
        cannot_make_up(argument, label)
        for argument in arguments
        if any(each is None for each in shape_and_dtype(argument))
    ]
    if found:
        raise HlopassError(found)
    check_memory(sum(argument.bytes or 0 for argument in arguments), "the arguments", label)
    return [made(argument, seed) for argument in arguments]


def made(argument: Value, seed: int) -> Array:
    """An array for one argument, whose type has a numpy counterpart."""
    shape, dtype = shape_and_dtype(argument)
    assert shape is not None and dtype is not None
    return _values(np.random.default_rng([seed, argument.index]), shape, dtype)


def cannot_make_up(argument: Value, label: str) -> Diagnostic:
    """Says why an argument gets no values."""
    reason = argument.obstacle or "numpy has no such element type"
    message = f"cannot make up {argument} of type {argument.type}: {reason}"
    hint = "give it a static shape: XLA compiles no other for the CPU"
    where = argument.where or Where(label)
    return Diagnostic("input-type", message, where, help=hint if "?" in argument.type else _HINT)


def shape_and_dtype(argument: Value) -> tuple[tuple[int, ...] | None, np.dtype[Any] | None]:
    """The shape and numpy's type of an argument; None where it has none."""
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


def check_memory(needed: int, what: str, label: str) -> None:
    """Raises HlopassError where `needed` bytes are more than the machine's memory.

    Making them up would let the machine swap before the kernel ends the process.
    """
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    if needed > memory:
        message = f"{what} take {needed} bytes, and this machine has {memory} bytes of memory"
        raise HlopassError(Diagnostic("out-of-memory", message, Where(label), help=_HINT))


def no_memory(label: str) -> Diagnostic:
    """What to say where Python has no memory left."""
    return Diagnostic("out-of-memory", "there is not enough memory for the program", Where(label))
