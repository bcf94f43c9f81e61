"""Sharding specs: what is accepted, what it means for a program, and what each mistake says."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from types import EllipsisType
from typing import Any

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from hlopass import shardspec
from hlopass.diagnostics import Diagnostic, HlopassError, render
from hlopass.layout import DimSharding, Mesh, TensorSharding
from hlopass.shard_resolve import Resolved
from hlopass.shardspec import BoundSpec, Spec
from hlopass.values import Role, Value

SCHEMA = shardspec.schema()
MESH = {"data": 4, "model": 2}


def value(
    name: str | None, *shape: int | None, index: int = 0, role: Role = "argument", **more: Any
) -> Value:
    """A value of f32; a size of None is dynamic."""
    text = "x".join([*("?" if size is None else str(size) for size in shape), "f32"])
    static = tuple(size for size in shape if size is not None)
    known = static if len(static) == len(shape) else None
    return Value(role, index, name, f"tensor<{text}>", None, known, **more)


def signature(role: Role, values: Mapping[str, Any]) -> list[Value]:
    """Values of a program, by name: a shape, or a whole value."""
    return [
        shape if isinstance(shape, Value) else value(name, *shape, index=index, role=role)
        for index, (name, shape) in enumerate(values.items())
    ]


def resolved(
    data: Mapping[str, Any],
    arguments: Mapping[str, Any],
    results: Mapping[str, Any] | None = None,
    reuses: Mapping[int, int] | None = None,
    **bind: Any,
) -> Resolved:
    """What a spec means for a program; `mesh` is MESH unless the spec has one."""
    bound = shardspec.from_data({"mesh": MESH, **data}, "s.json").bind(**bind)
    return bound.resolve(
        signature("argument", arguments), signature("result", results or {}), reuses
    )


def axes(sharding: TensorSharding | None) -> list[Any] | None:
    """The axes of each dimension, with "?" last where it is open."""
    if sharding is None:
        return None
    return [[*dim.axes, *(["?"] if dim.open else [])] for dim in sharding.dims]


def only(found: Resolved, name: int = 0) -> list[Any] | None:
    """The axes of one argument, where nothing was found wrong."""
    assert not found.diagnostics, render(found.diagnostics[0])
    return axes(found.arguments[name])


def mistakes(data: Any) -> list[tuple[str, str]]:
    """The code and the JSON pointer of each mistake in a spec, in order."""
    with pytest.raises(HlopassError) as caught:
        shardspec.from_data(data, "s.json")
    return places(caught.value.diagnostics)


def places(found: Any) -> list[tuple[str, str]]:
    """The code and the JSON pointer of each diagnostic."""
    return [(each.code, str(each.where).removeprefix("s.json")) for each in found]


def told(found: Resolved | list[Diagnostic]) -> str:
    """The one diagnostic, as it is printed."""
    (only_one,) = found.diagnostics if isinstance(found, Resolved) else found
    return render(only_one)


# Files.

YAML = """
version: 1
mesh: {data: "?", model: 2}
dialect: shardy
axis_rules: {batch: data, mlp: model, embed: null}
args:
  "params*['w1']": [embed, mlp]
  "batch*": [[data, model], null]
results:
  "*": follow
"""
JSON = """{"version": 1, "mesh": {"data": "?", "model": 2}, "dialect": "shardy",
"axis_rules": [["batch", "data"], ["mlp", ["model"]], ["embed", []]],
"args": {"params*['w1']": ["embed", "mlp"], "batch*": {"spec": [["data", "model"], []]}},
"results": {"*": "follow"}}"""
TOML = """
version = 1
dialect = "shardy"
[mesh]
data = "?"
model = 2
[axis_rules]
batch = "data"
mlp = "model"
embed = []
[args]
"params*['w1']" = ["embed", "mlp"]
"batch*" = [["data", "model"], []]
[results]
"*" = "follow"
"""


@pytest.mark.parametrize(("suffix", "text"), [(".yaml", YAML), (".json", JSON), (".toml", TOML)])
def test_all_formats_say_the_same(tmp_path: Path, suffix: str, text: str) -> None:
    path = tmp_path / f"s{suffix}"
    path.write_text(text)
    spec = shardspec.load(path)
    assert spec.open_axes == ("data",) and spec.dialect == "shardy" and spec.label == str(path)
    bound = spec.bind({"data": 4})
    found = bound.resolve(
        signature("argument", {"params[0]['w1']": (6, 8), "batch": (16, 3), "lr": ()}),
        signature("result", {"out[0]['w1']": (6, 8), "loss": ()}),
        {0: 0},
    )
    assert found.ok and not found.diagnostics
    assert {index: axes(each) for index, each in found.arguments.items()} == {
        0: [[], ["model"]],
        1: [["data", "model"], []],
    }
    assert found.results == {0: found.arguments[0], 1: None}


def test_defaults() -> None:
    spec = shardspec.from_data({"mesh": {"a": 2}})
    assert spec.dialect == "same" and spec.arguments == () and spec.open_axes == ()
    found = resolved({"args": {"w": ["data"]}}, {"w": (8,)}, {"new": (8,), "loss": ()}, {0: 0})
    assert found.results == {0: found.arguments[0], 1: None}, "without 'results' all follow"
    assert resolved({}, {"w": (8,)}).diagnostics == ()


def test_a_number_that_is_a_key_is_an_index() -> None:
    for key in (1, "1"):
        found = resolved({"args": {key: ["data"]}}, {"a": (4,), "b": (4,)})
        assert list(found.arguments) == [1]
    assert mistakes({"mesh": MESH, "args": {1: ["data"], "1": ["data"], False: []}}) == [
        ("key-repeated", "#/args/1"),
        ("value-type", "#/args/False"),
    ]


def test_every_mistake_is_found_at_once() -> None:
    data = {
        "version": 2,
        "mesh": {"a": 2, "b": "?", "c d": 1, "e": 0, "f": "x"},
        "dialect": "sdy",
        "axis_rules": [["a", "b"], ["x", ["a", "a"]], ["y", "z"], ["x"], 3, ["w", 1], ["", "a"]],
        "args": {
            "p": ["a", "a", "q", ["b", "b"], "...", "...", 1, [2], {"open": 1, "axis": "a"}],
            "q/r": {"spec": ["zz"], "optional": 1, "x": 1},
            "s": "follow",
            "t": None,
            "u": {},
            "re:(": [],
        },
        "results": {"v": "folow", "w": [["a", "?"], {"axes": "?"}]},
        "allow_uneven": "no",
        "arg": {},
    }
    assert mistakes(data) == [
        ("value-illegal", "#/version"),
        ("value-illegal", "#/dialect"),
        ("value-type", "#/allow_uneven"),
        ("key-unknown", "#/arg"),
        ("axis-name", "#/mesh/c d"),
        ("mesh-size", "#/mesh/e"),
        ("mesh-size", "#/mesh/f"),
        ("axis-ambiguous", "#/axis_rules/0"),
        ("axis-repeated", "#/axis_rules/1"),
        ("axis-unknown", "#/axis_rules/2"),
        ("value-type", "#/axis_rules/3"),
        ("value-type", "#/axis_rules/4"),
        ("value-type", "#/axis_rules/5"),
        ("axis-name", "#/axis_rules/6"),
        ("value-type", "#/args/p/6"),
        ("value-type", "#/args/p/7/0"),
        ("value-type", "#/args/p/8/open"),
        ("key-unknown", "#/args/p/8/axis"),
        ("ellipsis-repeated", "#/args/p"),
        ("axis-repeated", "#/args/p/1"),
        ("axis-unknown", "#/args/p/2"),
        ("axis-repeated", "#/args/p/3"),
        ("value-type", "#/args/q~1r/optional"),
        ("key-unknown", "#/args/q~1r/x"),
        ("axis-unknown", "#/args/q~1r/spec/0"),
        ("value-illegal", "#/args/s"),
        ("value-type", "#/args/t"),
        ("key-missing", "#/args/u"),
        ("pattern-invalid", "#/args/re:("),
        ("value-illegal", "#/results/v"),
        ("axis-unknown", "#/results/w/0"),
        ("axis-unknown", "#/results/w/1"),
    ]


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ({"args": {"w": ["modle"]}}, ["'modle' is neither a mesh axis nor a logical", "'model'?"]),
        ({"args": {"w": [["model", "?"]]}}, ['{"axes": [...], "open": true}']),
        ({"args": {"w": ["data", "data"]}}, ["mesh axis 'data' is used by entries 0 and 1"]),
        ({"args": {"w": [["data", "data"]]}}, ["mesh axis 'data' is used twice by one entry"]),
        ({"args": {"w": 3}}, ["a list with an entry for each dimension, or 'replicated', got 3"]),
        ({"args": {"w": "replicate"}}, ["illegal value 'replicate'", "did you mean 'replicated'"]),
        ({"args": {"w": "follow"}}, ["legal: 'replicated'"]),
        ({"args": []}, ["expected an object, got a list"]),
        ({"results": {"w": "same"}}, ["legal: 'replicated', 'follow'"]),
        ({"mesh": {"data": 0}}, ["the size of mesh axis 'data' is 0", 'at least 1, or "?"']),
        ({"mesh": {"a=b": 1}}, ["'a=b' cannot be the name of an axis"]),
        ({"mesh": {}}, ["the mesh has no axes"]),
        ({"mesh": ["data"]}, ["axes and their sizes, got", '{"data": 4, "model": "?"}']),
        ({"axis_rules": {"x": "dat"}}, ["'dat' is no mesh axis", "did you mean 'data'?"]),
        ({"axis_rules": {"model": "data"}}, ["'model' is a mesh axis and a logical axis"]),
        ({"axis_rules": 1}, ["expected an object, got 1"]),
        ({"axis_rules": [["x"]]}, ["a rule is a logical axis and the mesh axes for it"]),
    ],
)
def test_a_mistake_says_the_value_and_what_is_legal(data: Any, words: list[str]) -> None:
    with pytest.raises(HlopassError) as caught:
        shardspec.from_data({"mesh": MESH, **data}, "s.json")
    text = str(caught.value)
    assert all(word in text for word in words), text
    assert len(caught.value.diagnostics) == 1 and len(text) < 300


def test_a_spec_needs_a_mesh_and_says_so_once() -> None:
    assert mistakes({"args": {"w": ["data"]}}) == [("key-missing", "")]
    assert mistakes([]) == [("value-type", "")]


# Binding.


def spec(**mesh: Any) -> Spec:
    """A spec with this mesh."""
    return shardspec.from_data({"mesh": mesh}, "s.json")


def test_binding_gives_open_axes_their_sizes_and_can_be_done_again() -> None:
    lazy = spec(data="?", model=2)
    assert lazy.open_axes == ("data",)
    assert lazy.bind({"data": 4}).mesh == Mesh((("data", 4), ("model", 2)))
    assert lazy.bind(devices=16).mesh == Mesh((("data", 8), ("model", 2)))
    assert lazy.bind({"data": 4, "model": 2}, devices=8).mesh.size == 8
    assert lazy.bind(devices=2).mesh.sizes["data"] == 1
    assert lazy.open_axes == ("data",)
    assert lazy.bind(devices=16) == lazy.bind({"data": 8})
    two = spec(a="?", b="?")
    assert two.bind({"a": 2}, devices=6).mesh == Mesh((("a", 2), ("b", 3)))
    assert spec(a=2).bind().mesh == spec(a=2).bind(devices=2).mesh


@pytest.mark.parametrize(
    ("mesh", "bind", "codes", "words"),
    [
        ({"a": "?"}, {}, ["mesh-open"], ["without a size: 'a'"]),
        ({"a": "?", "b": "?"}, {"devices": 8}, ["mesh-open"], ["'a', 'b'", "all but one"]),
        ({"a": "?", "b": 3}, {"devices": 8}, ["mesh-devices"], ["mesh a=?, b=3", "multiple of 3"]),
        ({"a": 2, "b": 3}, {"devices": 12}, ["mesh-devices"], ["12 devices", "it takes 6"]),
        ({"a": "?"}, {"mesh": {"a": 4}, "devices": 8}, ["mesh-devices"], ["it takes 4"]),
        ({"a": "?"}, {"devices": 0}, ["mesh-devices"], ["0 is no number of devices"]),
        ({"a": "?"}, {"devices": "8"}, ["mesh-devices"], ["'8' is no number of devices"]),
        ({"a": "?"}, {"devices": True}, ["mesh-devices"], ["True is no number"]),
        ({"a": 2}, {"mesh": {"a": 4}}, ["mesh-fixed"], ["is 2 and cannot be bound to 4"]),
        (
            {"a": 1024, "b": 1025},
            {},
            ["mesh-devices"],
            ["a=1024, b=1025 has 1049600", "at most 1048"],
        ),
        (
            {"data": "?", "b": 2},
            {"mesh": {"dat": 2, "data": -1, "b": 3}},
            ["axis-unknown", "mesh-size", "mesh-fixed"],
            ["no mesh axis 'dat'", "did you mean 'data'?", "is -1"],
        ),
    ],
)
def test_what_cannot_be_bound(mesh: Any, bind: Any, codes: list[str], words: list[str]) -> None:
    with pytest.raises(HlopassError) as caught:
        spec(**mesh).bind(**bind)
    assert [found.code for found in caught.value.diagnostics] == codes
    assert all(word in str(caught.value) for word in words), str(caught.value)
    assert all(str(found.where).startswith("s.json#/mesh") for found in caught.value.diagnostics)


# Logical axes.


def assigned(rules: Any, *dims: Any, mesh: tuple[str, ...] = ("X", "Y", "Z")) -> list[Any]:
    """The mesh axes of dimensions with logical names; what no rule was left for is told."""
    data = {"mesh": dict.fromkeys(mesh, 1), "axis_rules": rules, "args": {"0": list(dims)}}
    found = resolved(data, {"w": (1,) * len(dims)})
    got = axes(found.arguments[0]) or []
    pairs = rules.items() if isinstance(rules, dict) else rules
    meant = {name for name, axes in pairs if axes is None or axes == []}
    lost = [
        index
        for index, (dim, chosen) in enumerate(zip(dims, got, strict=True))
        if isinstance(dim, str) and dim != "?" and not chosen and dim not in meant
    ]
    told = [("axis-rule-taken", f"#/args/0/{index}") for index in lost]
    assert found.ok and places(found.diagnostics) == told
    return got


def test_the_example_of_flax() -> None:
    """From the docstring of `logical_to_mesh_axes`; a name without a rule is an error here."""
    rules = [["batch", "X"], ["features", "X"], ["heads", "Y"], ["batch", "Z"]]
    found = assigned([*rules, ["length", None]], "batch", "length", "heads", "features")
    assert found == [["X"], [], ["Y"], []]


@pytest.mark.parametrize(
    ("rules", "dims", "expected"),
    [
        ({"b": "X", "m": "Y", "e": None}, ["b", "m", "e"], [["X"], ["Y"], []]),
        ({"b": ["X", "Y"], "m": "Z"}, ["m", "b"], [["Z"], ["X", "Y"]]),
        # The order of rules decides, not that of dimensions.
        ([["m", "X"], ["b", "X"]], ["b", "m"], [[], ["X"]]),
        ([["b", "X"], ["m", "X"]], ["b", "m"], [["X"], []]),
        # The first rule that fits; a rule whose axes are used in part does not fit.
        ([["b", "X"], ["m", ["X", "Y"]], ["m", "Y"]], ["b", "m"], [["X"], ["Y"]]),
        ([["m", "X"], ["m", "Y"]], ["m"], [["X"]]),
        # None always fits, and ends the search.
        ([["m", None], ["m", "X"]], ["m"], [[]]),
        ([["b", "X"], ["m", "X"], ["m", None], ["m", "Y"]], ["b", "m"], [["X"], []]),
        # Mesh axes that are named come first, wherever they stand.
        ({"m": "X"}, ["m", "X"], [[], ["X"]]),
        ([["m", "X"], ["m", "Y"]], [None, "m", "X"], [[], ["Y"], ["X"]]),
        # Names in a list, and with other dimensions around.
        ({"m": "X", "b": "Y"}, [["b", "m"], None, "?"], [["Y", "X"], [], ["?"]]),
        ({"m": "X"}, [["m", "Z"], {"axes": "Y", "open": True}], [["X", "Z"], ["Y", "?"]]),
        ({"X": "X"}, ["X"], [["X"]]),
    ],
)
def test_the_first_rule_that_fits_wins(rules: Any, dims: list[Any], expected: list[Any]) -> None:
    assert assigned(rules, *dims) == expected


def test_a_logical_axis_stands_once_in_a_tensor() -> None:
    data = {"mesh": MESH, "axis_rules": {"e": None}, "args": {"w": ["e", "e"]}}
    assert mistakes(data) == [("axis-repeated", "#/args/w/1")]


NAMES = st.sampled_from(["l", "m", "n"])
RULES = st.lists(
    st.tuples(NAMES, st.lists(st.sampled_from(["X", "Y", "Z"]), unique=True, max_size=2)),
    max_size=6,
)


@given(RULES, st.lists(st.sampled_from(["l", "m", "n", "X", "Y"]), unique=True, max_size=4))
def test_no_axis_is_used_twice_and_no_fitting_rule_is_passed_over(
    rules: list[tuple[str, list[str]]], dims: list[str]
) -> None:
    known = [dim for dim in dims if dim in "XY" or any(name == dim for name, _ in rules)]
    found = assigned(rules, *known)
    used = [axis for dim in found for axis in dim]
    assert len(set(used)) == len(used)
    for name, chosen in zip(known, found, strict=True):
        tried = [axes for rule, axes in rules if rule == name]
        assert chosen == [name] if name in "XY" else chosen in [*tried, []]
        if not chosen and [] not in tried:
            assert all(set(axes) & set(used) for axes in tried)


# What it means for a program.


@pytest.mark.parametrize(
    ("entry", "shape", "expected"),
    [
        (["data", None], (8, 3), [["data"], []]),
        ([["data", "model"], None], (8, 3), [["data", "model"], []]),
        ([["model", "data"]], (8,), [["model", "data"]]),
        ([[], "?"], (3, 3), [[], ["?"]]),
        ([{"axes": ["data"], "open": True}, {}], (8, 3), [["data", "?"], []]),
        ([{"axes": None, "open": True}], (3,), [["?"]]),
        ("replicated", (3, 3), [[], []]),
        ("replicated", (), []),
        ([], (), []),
        (["..."], (), []),
        (["...", "model"], (3, 3, 2), [[], [], ["model"]]),
        (["...", "model"], (2,), [["model"]]),
        (["data", "...", "model"], (4, 3, 2), [["data"], [], ["model"]]),
        (["data", "...", "model"], (4, 2), [["data"], ["model"]]),
        (["data", "..."], (4, 3, 3), [["data"], [], []]),
        ({"spec": "replicated"}, (3,), [[]]),
        ({"spec": ["data"], "allow_uneven": True}, (3,), [["data"]]),
        (["data"], (0,), [["data"]]),
    ],
)
def test_entries(entry: Any, shape: tuple[int, ...], expected: list[Any]) -> None:
    assert only(resolved({"args": {"w": entry}}, {"w": shape})) == expected


def test_the_first_pattern_that_matches_counts() -> None:
    data = {"args": {"w1": "replicated", "w*": ["data"], "0:2": ["model"], "re:[bw].*": ["?"]}}
    found = resolved(data, {"b1": (8,), "w1": (8,), "w2": (8,), "b2": (8,), "x": (8,)})
    assert found.diagnostics == ()
    expected = {0: [["model"]], 1: [[]], 2: [["data"]], 3: [["?"]]}
    assert {index: axes(each) for index, each in found.arguments.items()} == expected


def test_a_pattern_without_effect_is_told() -> None:
    data = {"args": {"w*": ["data"], "b": ["data"], "w1": "replicated", "0:3": ["model"]}}
    found = resolved(data, {"w1": (8,), "b": (8,), "w2": (8,)})
    assert found.ok and places(found.diagnostics) == [
        ("pattern-hidden", "#/args/w1"),
        ("pattern-hidden", "#/args/0:3"),
    ]
    assert axes(found.arguments[0]) == [["data"]]
    first, second = map(render, found.diagnostics)
    assert "warning: pattern 'w1' has no effect: argument 0 'w1' matched before" in first
    assert "3 arguments matched before" in second and "by 'w*', 'b'" in second


def test_a_pattern_that_matches_nothing_is_an_error_unless_optional() -> None:
    data = {"args": {"v": ["data"], "m*": {"spec": [], "optional": True}, "9": []}}
    found = resolved(data, {"w": (8,)})
    assert places(found.diagnostics) == [
        ("argument-unknown", "#/args/v"),
        ("index-out-of-range", "#/args/9"),
    ]
    assert not found.ok and found.arguments == {}
    data = {"results": {"v": "follow", "m": {"spec": "follow", "optional": True}}}
    found = resolved(data, {}, {"w": (8,)})
    assert places(found.diagnostics) == [("result-unknown", "#/results/v")]


@pytest.mark.parametrize(
    ("entry", "shape", "words"),
    [
        (["data"], (), ["argument 0 'w': it is a scalar, and the entry has 1 dimension [", "[]"]),
        (["data"], (8, 8), ["it has 2 dimensions, the entry 1 [shard-rank]", "write 2"]),
        (["data", None], (8,), ["it has 1 dimension, the entry 2 [shard-rank]"]),
        (["data", "...", None], (8,), ["it has 1 dimension, the entry at least 2 [shard-rank]"]),
        ([], (8,), ["it has 1 dimension, the entry 0 [shard-rank]"]),
        (
            [None, "data"],
            (8, 6),
            [
                "s.json#/args/w/1: error: cannot shard dimension 1 of argument 0 'w' over data=4: "
                "6 is not divisible by 4 [shard-uneven]",
                "note: argument is tensor<8x6xf32>",
                "help: 6 divides into 2, 3, 6 blocks, as over model=2; allow_uneven: true accept",
            ],
        ),
        ([["data", "model"]], (12,), ["over data=4, model=2: 12 is not divisible by 8"]),
        (["...", "data"], (8, 7), ["#/args/w/1: ", "7 divides into 7 blocks; allow_uneven"]),
        (["data"], (1,), ["1 is not divisible by 4", "help: 1 is not divisible; allow_uneven"]),
        ({"spec": ["data"]}, (6,), ["s.json#/args/w/spec/0: error"]),
        (["data"], (5040,), []),
        (["model"], (10395,), ["10395 divides into 3, 5, 7, 9, 11, 15, 21, 27, ... blocks; allow"]),
        (["data"], (None,), ["over data=4: it is dynamic, and may not be divisible [shard-dyn"]),
    ],
)
def test_what_does_not_fit_a_tensor(entry: Any, shape: Any, words: list[str]) -> None:
    found = resolved({"args": {"w": entry}}, {"w": shape})
    if not words:
        assert found.ok
        return
    text = told(found)
    assert all(word in text for word in words), text
    assert not found.ok and found.arguments == {}


def test_every_tensor_that_does_not_fit_is_told() -> None:
    found = resolved(
        {"args": {"*": [["model"], "data"]}, "results": {"*": ["data"]}},
        {"a": (3, 3), "b": (2,), "c": (2, 4)},
        {"a": (4,), "b": (3,)},
    )
    assert places(found.diagnostics) == [
        ("shard-uneven", "#/args/*/0"),
        ("shard-uneven", "#/args/*/1"),
        ("shard-rank", "#/args/*"),
        ("shard-uneven", "#/results/*/0"),
    ]
    assert list(found.arguments) == [2] and list(found.results) == [0]


def test_uneven_dimensions_are_accepted_where_they_are_allowed() -> None:
    for data in (
        {"args": {"w": {"spec": ["data"], "allow_uneven": True}}},
        {"args": {"w": ["data"]}, "allow_uneven": True},
    ):
        assert only(resolved(data, {"w": (6,)})) == [["data"]]
        assert only(resolved(data, {"w": (None,)})) == [["data"]]
    data = {"args": {"w": {"spec": ["data"], "allow_uneven": False}}, "allow_uneven": True}
    assert "shard-uneven" in told(resolved(data, {"w": (6,)}))


def test_what_is_not_a_tensor() -> None:
    token = Value("argument", 0, "t", "!stablehlo.token", None, None, "a token has no buffer")
    constant = value("c", 8, index=1, internal="a constant of the frontend")
    values = {"t": token, "c": constant, "w": (8,)}
    found = resolved({"args": {"*": ["data"]}}, values)
    assert found.diagnostics == () and list(found.arguments) == [2]
    text = told(resolved({"args": {"t": ["data"]}}, values))
    assert "cannot shard argument 0 't': a token has no buffer [shard-impossible]" in text
    assert only(resolved({"args": {"c": ["data"]}}, values), 1) == [["data"]]
    assert list(resolved({"args": {0: ["data"]}}, {"": value(None, 4)}).arguments) == [0]


@pytest.mark.parametrize(
    ("text", "dims"),
    [
        ("tensor<f32>", ()),
        ("tensor<4x?xf32>", (4, None)),
        ("tensor<?x3xcomplex<f32>, #stablehlo.bounds<8, ?>>", (None, 3)),
        ("tensor<2x!quant.uniform<i8:f32, 0.1>>", (2,)),
        ("tensor<*xf32>", None),
        ("tuple<tensor<4xf32>>", None),
        ("!stablehlo.token", None),
    ],
)
def test_dimensions_are_read_off_the_type(text: str, dims: Any) -> None:
    assert Value("argument", 0, "w", text, None).dims == dims


def test_results_follow_the_arguments_that_they_reuse() -> None:
    arguments = {"w": (8, 2), "b": (8,), "x": (4,)}
    results = {"w": (8, 2), "flat": (16,), "x": (4,), "loss": (), "b": (8,)}
    data = {
        "args": {"w": ["data", "?"], "b": ["model"]},
        "results": {"b": ["data"], "*": "follow"},
    }
    found = resolved(data, arguments, results, {0: 0, 1: 0, 2: 2, 4: 1})
    assert {index: axes(each) for index, each in found.results.items()} == {
        0: [["data"], ["?"]],
        1: None,
        2: None,
        3: None,
        4: [["data"]],
    }
    text = told(found)
    assert "#/results/*: warning: result 1 'flat' cannot follow argument 0 'w'" in text
    assert "argument is tensor<8x2xf32>" in text and "result is tensor<16xf32>" in text
    assert found.ok


def test_without_a_program_of_results_nothing_is_missing() -> None:
    assert resolved({}, {"w": (8,)}, {}).diagnostics == ()
    found = resolved({"results": {"loss": "replicated"}}, {}, {"loss": (), "w": (8,)})
    assert found.results[0] is not None and 1 not in found.results


# Before binding.


def test_what_needs_no_sizes_is_checked_before_there_are_any() -> None:
    lazy = shardspec.from_data(
        {
            "mesh": {"data": "?", "model": 2},
            "args": {
                "a": ["data"],
                "b": [["data", "model"]],
                "c": ["data", None],
                "d": ["model"],
                "e": ["data"],
                "f": [],
            },
        },
        "s.json",
    )
    arguments = signature("argument", {"a": (7,), "b": (7,), "c": (7,), "d": (7,), "e": (None,)})
    found = lazy.check(arguments, [])
    assert places(found) == [
        ("shard-uneven", "#/args/b/0"),
        ("shard-rank", "#/args/c"),
        ("shard-uneven", "#/args/d/0"),
        ("shard-dynamic", "#/args/e/0"),
        ("argument-unknown", "#/args/f"),
    ]
    assert "over data=?, model=2: 7 is not divisible by 2" in render(found[0])
    assert "over data=?: it is dynamic" in render(found[3])
    bound = lazy.bind(devices=14).resolve(arguments, [])
    assert axes(bound.arguments[0]) == [["data"]]
    assert "7 is not divisible by 4" in render(
        lazy.bind(devices=8).resolve(arguments, []).diagnostics[0]
    )


@st.composite
def programs(draw: st.DrawFn) -> tuple[dict[str, Any], dict[str, tuple[int, ...]], dict[str, int]]:
    """A spec without mistakes of its own, a program, and sizes for the mesh."""
    dims = st.sampled_from([None, "?", "a", "b", ["a", "b"], "...", "l", {"axes": "b"}])
    entries = st.one_of(st.just("replicated"), st.lists(dims, max_size=3))
    args = draw(st.dictionaries(st.sampled_from(["w", "x", "*", "0", "y*"]), entries))
    shapes = draw(
        st.dictionaries(
            st.sampled_from(["w", "x", "y1", "y2"]),
            st.lists(st.integers(0, 8), max_size=3).map(tuple),
        )
    )
    data = {"mesh": {"a": "?", "b": "?"}, "axis_rules": {"l": "a"}, "args": args}
    return data, shapes, {"a": draw(st.integers(1, 4)), "b": draw(st.integers(1, 4))}


@given(programs())
def test_what_is_wrong_before_binding_is_wrong_after(case: Any) -> None:
    data, shapes, sizes = case
    assume(not codes(data))
    lazy = shardspec.from_data(data, "s.json")
    arguments = signature("argument", shapes)
    before = set(places(lazy.check(arguments, [])))
    bound = lazy.bind(sizes)
    found = bound.resolve(arguments, [])
    assert before <= set(places(found.diagnostics))
    assert {code for code, _ in set(places(found.diagnostics)) - before} <= {"shard-uneven"}
    _check_sound(bound, found, arguments)
    assert lazy.bind(sizes) == bound and bound.resolve(arguments, []) == found


def _check_sound(bound: BoundSpec, found: Resolved, arguments: list[Value]) -> None:
    """Every sharding fits its tensor."""
    for index, sharding in found.arguments.items():
        shape = arguments[index].shape
        assert shape is not None and sharding.mesh == bound.mesh
        part = sharding.shard_shape(shape)
        assert all(
            size == step * count
            for size, step, count in zip(shape, part, sharding.counts, strict=True)
        )


def test_entries_are_in_terms_of_mesh_axes() -> None:
    read = shardspec.from_data({"mesh": MESH, "args": {"w": ["data", "..."]}})
    (entry,) = read.entries["argument"]
    assert entry.dims is not None
    first, rest = entry.dims
    assert first == DimSharding(("data",)) and isinstance(rest, EllipsisType)
    assert read == shardspec.from_data({"mesh": MESH, "args": {"w": ["data", "..."]}}, "other")


# The schema: what it accepts is accepted, but for what it cannot know.

UNKNOWN_TO_SCHEMA = {
    "axis-ambiguous",
    "axis-repeated",
    "axis-unknown",
    "ellipsis-repeated",
    "pattern-invalid",
}


def schema_faults(given: Any, schema: dict[str, Any]) -> Iterator[str]:
    """The keywords of a schema that a value does not fit."""
    import re

    if "$ref" in schema:
        yield from schema_faults(given, SCHEMA["$defs"][schema["$ref"].rpartition("/")[2]])
    if "anyOf" in schema and all(any(schema_faults(given, each)) for each in schema["anyOf"]):
        yield "anyOf"
    if "enum" in schema and not any(same(given, each) for each in schema["enum"]):
        yield "enum"
    if "const" in schema and not same(given, schema["const"]):
        yield "const"
    if "type" in schema and not isinstance(given, TYPES[schema["type"]]):
        yield "type"
        return
    if schema.get("type") == "integer" and isinstance(given, bool):
        yield "type"
    if isinstance(given, int) and given < schema.get("minimum", given):
        yield "minimum"
    if isinstance(given, str) and not re.search(schema.get("pattern", ""), given):
        yield "pattern"
    if isinstance(given, list):
        prefix = schema.get("prefixItems", [])
        if not schema.get("minItems", 0) <= len(given) <= schema.get("maxItems", len(given)):
            yield "items"
        for item, each in zip(given, prefix, strict=False):
            yield from schema_faults(item, each)
        for item in given[len(prefix) :]:
            yield from schema_faults(item, schema.get("items") or {})
    if isinstance(given, dict):
        yield from _object_faults(given, schema)
    unknown = schema.keys() - KEYWORDS
    assert not unknown, f"the schema uses keywords that this test does not know: {unknown}"


def _object_faults(given: dict[str, Any], schema: dict[str, Any]) -> Iterator[str]:
    known = schema.get("properties", {})
    if not given.keys() >= set(schema.get("required", [])):
        yield "required"
    if len(given) < schema.get("minProperties", 0):
        yield "minProperties"
    for key, item in given.items():
        yield from schema_faults(key, schema.get("propertyNames", {}))
        rest = schema.get("additionalProperties", {})
        if key not in known and rest is False:
            yield "additionalProperties"
        yield from schema_faults(item, known.get(key, rest or {}))


KEYWORDS = {
    *("$ref", "$defs", "anyOf", "enum", "const", "type", "minimum", "pattern", "prefixItems"),
    *("items", "minItems", "maxItems", "properties", "required", "propertyNames"),
    *("additionalProperties", "minProperties", "title", "description", "default"),
}
TYPES: dict[str, type] = {
    "object": dict,
    "array": list,
    "string": str,
    "integer": int,
    "boolean": bool,
    "null": type(None),
}


def same(one: Any, other: Any) -> bool:
    """Equality of JSON, in which true is not 1."""
    return type(one) is type(other) and bool(one == other)


SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-1, 4),
    st.sampled_from([0.5, "?", "...", "a", "b", "l", "q", "a b", "replicated", "follow", ""]),
)
AXES = st.one_of(SCALARS, st.lists(SCALARS, max_size=2))
DIMS = st.one_of(
    AXES,
    st.fixed_dictionaries({}, optional={"axes": AXES, "open": SCALARS, "unknown": SCALARS}),
)
SHORT = st.one_of(st.lists(DIMS, max_size=3), SCALARS)
LONG = st.fixed_dictionaries(
    {},
    optional={"spec": SHORT, "optional": SCALARS, "allow_uneven": SCALARS, "unknown": SCALARS},
)
TABLES = st.one_of(
    st.dictionaries(st.sampled_from(["w", "0", "re:("]), st.one_of(SHORT, LONG), max_size=2),
    SCALARS,
)
RULE_TABLES = st.one_of(
    st.dictionaries(st.sampled_from(["l", "a", "q r"]), AXES, max_size=2),
    st.lists(st.one_of(st.lists(AXES, max_size=3), SCALARS), max_size=2),
    SCALARS,
)
SIZES = st.one_of(st.sampled_from([1, 2, "?"]), SCALARS)
SPECS = st.one_of(
    SCALARS,
    st.fixed_dictionaries(
        {},
        optional={
            "mesh": st.one_of(
                st.fixed_dictionaries({"a": SIZES}, optional={"b": SIZES, "c=": SIZES}),
                st.dictionaries(st.sampled_from(["a", "b"]), SIZES, max_size=2),
                SCALARS,
            ),
            "version": st.one_of(st.just(1), SCALARS),
            "dialect": st.one_of(st.sampled_from(["shardy", "gspmd", "same"]), SCALARS),
            "axis_rules": RULE_TABLES,
            "args": TABLES,
            "results": TABLES,
            "allow_uneven": SCALARS,
            "unknown": SCALARS,
        },
    ),
)


def codes(data: Any) -> set[str]:
    """The codes of the mistakes in a spec."""
    try:
        shardspec.from_data(data)
    except HlopassError as error:
        return {found.code for found in error.diagnostics}
    return set()


@given(SPECS)
@example({"mesh": {"a": 1}, "axis_rules": [["l", ["a"]]], "args": {"w": [{"axes": None}]}})
@example({"mesh": {"a": 1}, "args": {"w": {"spec": "follow"}}})
@example({"mesh": {"a": 1}, "results": {"w": {"spec": "follow", "allow_uneven": None}}})
def test_the_schema_accepts_what_is_accepted(data: Any) -> None:
    faults = set(schema_faults(data, SCHEMA))
    known = codes(data) - UNKNOWN_TO_SCHEMA
    assert bool(faults) == bool(known), (faults, known)
