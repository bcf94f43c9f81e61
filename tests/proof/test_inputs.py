"""The inputs that are made up: every element type, seeds, what cannot be made."""

from __future__ import annotations

import os

import numpy as np
import pytest

from hlopass.diagnostics import HlopassError
from hlopass.proof import inputs
from hlopass.values import Value

TYPES = {
    "i1": "bool",
    **{f"i{bits}": f"int{bits}" for bits in (2, 4, 8, 16, 32, 64)},
    **{f"ui{bits}": f"uint{bits}" for bits in (2, 4, 8, 16, 32, 64)},
    "f16": "float16",
    "bf16": "bfloat16",
    "f32": "float32",
    "f64": "float64",
    "f4E2M1FN": "float4_e2m1fn",
    "f6E2M3FN": "float6_e2m3fn",
    "f6E3M2FN": "float6_e3m2fn",
    "f8E3M4": "float8_e3m4",
    "f8E4M3": "float8_e4m3",
    "f8E4M3B11FNUZ": "float8_e4m3b11fnuz",
    "f8E4M3FN": "float8_e4m3fn",
    "f8E4M3FNUZ": "float8_e4m3fnuz",
    "f8E5M2": "float8_e5m2",
    "f8E5M2FNUZ": "float8_e5m2fnuz",
    "f8E8M0FNU": "float8_e8m0fnu",
    "complex<f32>": "complex64",
    "complex<f64>": "complex128",
}


def value(type_: str, shape: tuple[int, ...] | None, index: int = 0, size: int = 0) -> Value:
    return Value("argument", index, None, type_, size, shape)


def made(*values: Value, seed: int = 0) -> list[np.ndarray]:
    return inputs.make(values, seed, "step.mlir")


@pytest.mark.parametrize(("element", "name"), TYPES.items())
def test_every_element_type_is_made(element: str, name: str) -> None:
    whole, scalar, empty = made(
        value(f"tensor<5x7x{element}>", (5, 7)),
        value(f"tensor<{element}>", ()),
        value(f"tensor<0x7x{element}>", (0, 7)),
    )
    assert [each.dtype.name for each in (whole, scalar, empty)] == [name] * 3
    assert [each.shape for each in (whole, scalar, empty)] == [(5, 7), (), (0, 7)]


@pytest.mark.parametrize("element", TYPES)
def test_values_are_small_and_not_all_alike(element: str) -> None:
    (array,) = made(value(f"tensor<400x{element}>", (400,)))
    values = array.astype(np.complex128)
    assert np.isfinite(values).all()
    assert (values.real >= 0).all()
    assert (np.abs(values) <= 3.01).all()
    assert len(np.unique(values)) > 1


@pytest.mark.parametrize("element", ["f32", "f64", "bf16"])
def test_logarithms_and_quotients_of_floats_are_finite(element: str) -> None:
    (array,) = made(value(f"tensor<1000x{element}>", (1000,)))
    assert (array > 0).all()


def test_seeds_reproduce() -> None:
    kinds = [value("tensor<9xf32>", (9,), 0), value("tensor<9xi32>", (9,), 1)]
    first, again, other = made(*kinds, seed=3), made(*kinds, seed=3), made(*kinds, seed=4)
    assert [each.tobytes() for each in first] == [each.tobytes() for each in again]
    assert first[0].tobytes() != other[0].tobytes()


def test_an_argument_keeps_its_values_whatever_comes_before_it() -> None:
    (alone,) = made(value("tensor<9xf32>", (9,), 1))
    _, behind = made(value("tensor<99xf64>", (99,), 0), value("tensor<9xf32>", (9,), 1))
    assert alone.tobytes() == behind.tobytes()


def test_two_arguments_of_one_type_differ() -> None:
    first, second = made(value("tensor<9xf32>", (9,), 0), value("tensor<9xf32>", (9,), 1))
    assert first.tobytes() != second.tobytes()


def test_a_token_is_an_array_of_no_elements() -> None:
    (token,) = made(value("!stablehlo.token", None))
    assert (token.shape, token.dtype.name) == ((0,), "bool")


@pytest.mark.parametrize(
    "type_",
    ["tensor<4xi3>", "tensor<4xtf32>", "tensor<4xi128>", "tensor<4x!quant.uniform<i8:f32, 5.0>>"],
)
def test_an_element_type_that_numpy_lacks_is_named(type_: str) -> None:
    with pytest.raises(HlopassError) as error:
        made(value(type_, (4,)), value("tensor<4xf32>", (4,), 1), value("tensor<i3>", (), 2))
    first, second = error.value.diagnostics
    assert str(first) == (
        f"step.mlir: error: cannot make up argument 0 of type {type_}: numpy has no such element "
        "type [input-type]\n  help: verify it without running it: --compile-only"
    )
    assert second.message.startswith("cannot make up argument 2 of type tensor<i3>")


def test_more_than_the_machine_has_is_refused_before_it_is_made() -> None:
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    with pytest.raises(HlopassError) as error:
        made(value(f"tensor<{memory}xi8>", (memory,), 0, memory), value("tensor<i8>", (), 1, 1))
    (found,) = error.value.diagnostics
    assert found.code == "out-of-memory"
    assert found.message == (
        f"the arguments take {memory + 1} bytes, and this machine has {memory} bytes of memory"
    )
