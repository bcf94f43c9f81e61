"""What a program says of its arguments and results: names, places, and sizes as XLA has them."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import pytest
from golden import FEATURES, has_feature

from hlopass import formats
from hlopass.diagnostics import HlopassError
from hlopass.program import Program
from hlopass.values import Value

ELEMENTS = [
    *("bool", "int2", "uint2", "int4", "uint4", "int8", "uint8", "int16", "uint16"),
    *("int32", "uint32", "int64", "uint64", "bfloat16", "float16", "float32", "float64"),
    *("float4_e2m1fn", "float8_e3m4", "float8_e4m3", "float8_e8m0fnu", "float8_e4m3fn"),
    *("float8_e4m3b11fnuz", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz"),
    *("complex64", "complex128"),
]


def program(source: str, entry: str | None = None) -> Program:
    """A program from text."""
    return formats.read(source, "m.mlir", entry)


def argument(type_: str, attributes: str = "") -> Value:
    """The one argument, of this type, of a function that does nothing."""
    return program(f"func.func @main(%x: {type_} {attributes}) {{ return }}").arguments[0]


@pytest.mark.parametrize("element", ELEMENTS)
def test_sizes_are_those_that_xla_allocates(element: str) -> None:
    with jax.enable_x64(True):
        shapes = [jax.ShapeDtypeStruct(shape, getattr(jnp, element)) for shape in ((), (3, 5))]
        lowered = jax.jit(lambda x, y: (y.T, x)).lower(*shapes)
        text = lowered.as_text()
        for value, shape in zip(program(text).arguments, shapes, strict=True):
            alone = jax.jit(lambda x: x.T).lower(shape)
            allocated = alone.compile().memory_analysis()
            assert allocated is not None
            assert value.bytes == allocated.argument_size_in_bytes, value.type
            assert value.obstacle is None


@pytest.mark.parametrize(
    ("type_", "size", "shape"),
    [
        ("tensor<f32>", 4, ()),
        ("tensor<2x3xf32>", 24, (2, 3)),
        ("tensor<3xi1>", 3, (3,)),
        ("tensor<3xi4>", 2, (3,)),
        ("tensor<5xui2>", 2, (5,)),
        ("tensor<2xcomplex<f64>>", 32, (2,)),
    ],
)
def test_bytes_and_shape(type_: str, size: int, shape: tuple[int, ...]) -> None:
    value = argument(type_)
    assert (value.bytes, value.shape, value.obstacle) == (size, shape, None)
    assert value.described() == f"{value.type} ({size} bytes)"


@pytest.mark.parametrize(
    ("type_", "obstacle"),
    [
        ("!stablehlo.token", "a token has no buffer"),
        ("!mhlo.token", "a token has no buffer"),
        ("tuple<tensor<4xf32>>", "a tuple is several buffers"),
        ("tensor<?x4xf32>", "its shape is dynamic"),
        ("tensor<*xf32>", "tensor<*xf32> is not a ranked tensor"),
        ("memref<4xf32>", "memref<4xf32> is not a ranked tensor"),
        ("f32", "f32 is not a ranked tensor"),
        ("tensor<?xf32, #stablehlo.bounds<8>>", "its shape is dynamic"),
        ("tensor<0x4xf32>", "it holds no elements"),
        (
            "tensor<4x!quant.uniform<i8:f32, 0.5>>",
            "the size of an element of type !quant.uniform<i8:f32, 0.5> is not known",
        ),
        ("tensor<4xindex>", "the size of an element of type index is not known"),
    ],
)
def test_obstacles(type_: str, obstacle: str) -> None:
    value = argument(type_)
    assert value.obstacle == obstacle
    assert value.bytes in (None, 0)


def test_what_the_frontend_added_for_itself() -> None:
    assert argument("tensor<4xf32>").internal is None
    constant = argument("tensor<4xf32>", '{jax.global_constant = "table"}')
    assert constant.internal == "a constant of the frontend, 'table'"
    unnamed = argument("tensor<4xf32>", "{jax.global_constant}")
    assert unnamed.internal == "a constant of the frontend"
    token = argument("!stablehlo.token", "{jax.token = true}")
    assert token.internal == "a token that orders side effects"


@pytest.mark.parametrize(
    ("attributes", "kind"),
    [
        ("", None),
        ('{mhlo.memory_kind = "pinned_host"}', "pinned_host"),
        ('{mhlo.memory_kind = ""}', None),
        ("{mhlo.memory_kind = 3}", None),
    ],
)
def test_memory_kinds(attributes: str, kind: str | None) -> None:
    assert argument("tensor<4xf32>", attributes).memory_kind == kind


def test_places_of_arguments_and_of_the_function() -> None:
    source = (
        "// one\nmodule {\n  func.func @main(%w: tensor<f32>, %arg1: tensor<f32>) { return }\n}"
    )
    found = program(source)
    assert [str(value.where) for value in found.arguments] == ["m.mlir:3:19", "m.mlir:3:36"]
    assert str(found.where) == "m.mlir:3:3"


def test_where_an_argument_has_a_location_the_place_is_the_functions() -> None:
    source = 'module {\n  func.func @main(%arg0: tensor<f32> loc("w")) { return }\n}'
    found = program(source)
    assert str(found.arguments[0].where) == "m.mlir:2:3"
    assert found.arguments[0].name == "w"


def test_where_the_function_has_a_location_its_line_is_looked_up() -> None:
    source = (
        "module {\n  func.func private @main_2() { return }\n"
        '  func.func @main(%arg0: tensor<f32> loc("w")) { return } loc("f")\n}'
    )
    assert str(program(source).where) == "m.mlir:3"


def test_a_jax_program_has_the_names_that_people_wrote() -> None:
    def step(state: dict[str, Any], batch: tuple[Any, ...]) -> tuple[dict[str, Any], Any]:
        return {"w": state["w"] + batch[1], "b": state["b"]}, batch[0].sum()

    value = jax.ShapeDtypeStruct((4,), jnp.float32)
    lowered = jax.jit(step).lower({"w": value, "b": value}, (value, value))
    found = program(lowered.as_text(debug_info=True))
    assert [each.name for each in found.arguments] == [
        "state['b']",
        "state['w']",
        "batch[0]",
        "batch[1]",
    ]
    assert [each.name for each in found.results][2] == "result[1]"
    assert all("['" in (each.name or "") for each in found.results[:2])


def test_attributes_of_arguments_are_read_and_written() -> None:
    found = program("func.func @main(%w: tensor<f32> {a.b = 1 : i32}, %m: tensor<f32>) { return }")
    first, second = found.argument_attributes()
    assert str(first["a.b"]) == "1 : i32" and second == {}
    found.set_argument_attributes({1: {"c.d": first["a.b"]}})
    assert [list(attrs) for attrs in found.argument_attributes()] == [["a.b"], ["c.d"]]
    found.set_argument_attributes({0: {}, 1: {}})
    assert "arg_attrs" not in found.entry.attributes
    assert found.argument_attributes() == [{}, {}]


ENTRIES = """
func.func @a() { return }
func.func private @b() { return }
func.func public @main() { return }
func.func private @declared()
"""


@pytest.mark.parametrize(
    ("source", "entry", "name", "warnings"),
    [
        (ENTRIES, None, "main", []),
        (ENTRIES, "a", "a", ["entry-not-main"]),
        (ENTRIES, "b", "b", ["entry-not-main"]),
        ("func.func @only() { return }", None, "only", ["entry-not-main"]),
        ("func.func private @main() { return }", None, "main", ["entry-private"]),
        ('func.func @"a b"() { return }', None, "a b", ["entry-not-main"]),
    ],
)
def test_the_entry(source: str, entry: str | None, name: str, warnings: list[str]) -> None:
    found = program(source, entry)
    assert found.entry_name == name
    assert [warning.code for warning in found.warnings] == warnings


@pytest.mark.parametrize(
    ("source", "entry", "code", "words"),
    [
        (ENTRIES, "mian", "entry-unknown", "did you mean 'main'?"),
        (ENTRIES, "declared", "entry-no-body", "legal: 'a', 'b', 'main'"),
        (ENTRIES.replace("@main", "@c"), None, "entry-ambiguous", "2 public ones: 'a', 'c'"),
        ("func.func private @x() { return }", None, "entry-ambiguous", "only private ones: 'x'"),
        ('"a.b"() : () -> ()', None, "entry-missing", "it holds a.b"),
        ("module { func.func @main() { return } }\nmodule {}", None, "entry-missing", "2 modules"),
    ],
)
def test_no_entry(source: str, entry: str | None, code: str, words: str) -> None:
    with pytest.raises(HlopassError) as caught:
        program(source, entry)
    assert caught.value.diagnostics[0].code == code
    assert words in str(caught.value)


@pytest.mark.skipif(not has_feature("ssa-names"), reason=FEATURES["ssa-names"][1])
def test_names_become_locations() -> None:
    found = program("func.func @main(%w: tensor<f32>, %arg7: tensor<f32>) { return }")
    arguments = found.entry.regions[0].blocks[0].arguments
    assert str(arguments[0].location) == 'loc("w")'
    assert str(arguments[1].location).startswith('loc("-":')
