"""The Python API of sharding in `inspect`: figures, JSON, and mistakes."""

from __future__ import annotations

import json
import math
from typing import Any

import msgspec
import pytest
from golden import TESTDATA

import hlopass
from hlopass.diagnostics import HlopassError, UsageError
from hlopass.report import Inspection

FOLDER = TESTDATA / "inspect"
SPEC = {"mesh": {"data": "?", "model": 2}, "args": {"x": ["data", None], "w": [None, "model"]}}
BARE = FOLDER / "spec.mlir"
SHARDY = FOLDER / "carried.mlir"
GSPMD = FOLDER / "gspmd.mlir"


def codes(inspection: Inspection) -> list[str]:
    return [each.code for each in inspection.diagnostics]


def test_a_spec_is_bound_as_rewriting_binds_it() -> None:
    inspection = hlopass.inspect(BARE, shard=SPEC, devices=8)
    rewritten = hlopass.rewrite(BARE, shard=SPEC, mesh={"data": 4})
    assert inspection == hlopass.inspect(rewritten)
    bound = hlopass.load_spec(SPEC).bind({"data": 4})
    assert inspection == hlopass.inspect(BARE, shard=bound)
    assert inspection == hlopass.inspect(hlopass.rewrite(BARE), shard=SPEC, devices=8)


def test_layouts_add_up() -> None:
    inspection = hlopass.inspect(BARE, shard=SPEC, devices=8)
    x, w, b = (each.layout for each in inspection.arguments)
    assert x is not None and w is not None and b is not None
    assert (x.blocks, x.shard_shape, x.device_bytes, x.copies) == ((4, 1), (2, 16), 128, 2)
    assert (x.replicated_over, x.replicated_bytes, x.open) == (("model",), 512, False)
    assert (w.replicated_over, w.replicated_bytes) == (("data",), 2048 * 3)
    assert (b.replicated_over, b.replicated_bytes, b.open) == (("data", "model"), 128 * 7, True)
    held = inspection.per_device
    assert (held.arguments, held.results, held.reused) == (1280, 128 + 1024, 128)
    assert held.total == held.arguments + held.results - held.reused
    assert held.replicated == 512 + 6144 + 896 + 1024 * 7
    assert inspection.devices == 8 and inspection.meshes == {"mesh": {"data": 4, "model": 2}}


@pytest.mark.parametrize("source", [SHARDY, GSPMD])
def test_both_dialects_give_the_same_layouts(source: Any) -> None:
    inspection = hlopass.inspect(source, picture=["x", "w"])
    layouts = [each.layout for each in inspection.arguments[:2] if each.layout is not None]
    assert [each.shard_shape for each in layouts] == [(2, 16), (16, 16)]
    assert [each.device_bytes for each in layouts] == [128, 1024]
    assert [each.blocks[0] for each in inspection.pictures] == [(0, 1), (0, 2, 4, 6)]


def test_axes_name_the_tilings_of_gspmd() -> None:
    def over(**options: Any) -> list[tuple[str, ...] | None]:
        found = hlopass.inspect(GSPMD, **options)
        return [each.layout.replicated_over for each in found.arguments if each.layout is not None]

    assert over() == [None, None, None]
    mesh = {"data": 4, "model": 2}
    assert over(mesh=mesh) == [("model",), ("data",), ("data", "model")]
    assert over(mesh={"a": 2, "b": 2, "c": 2})[0] == ("c",)
    assert over(mesh={"model": 2, "data": 4})[1] == ("model", "data:(1)2")


def test_parts_of_axes_are_named_apart() -> None:
    text = """
    sdy.mesh @mesh = <["x"=8]>
    func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x":(1)2}]>},
                    %b: tensor<6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
        -> tensor<8xf32> { return %a : tensor<8xf32> }
    """
    inspection = hlopass.inspect(text)
    part, uneven = (each.layout for each in inspection.arguments)
    assert part is not None and (part.copies, part.replicated_over) == (4, ("x:(2)4",))
    assert uneven is not None and (uneven.blocks, uneven.shard_shape) == ((2,), (3,))
    assert "shard-uneven" in codes(inspection)


def test_the_devices_may_be_given_where_the_program_is_silent() -> None:
    inspection = hlopass.inspect(BARE, devices=4)
    assert inspection.devices == 4 and inspection.per_device.replicated == 3 * (2688 + 1024)
    assert all(not each.layout.open for each in inspection.arguments if each.layout is not None)
    assert hlopass.inspect(BARE).devices == 1
    assert hlopass.inspect(BARE, mesh={"a": 2, "b": 3}).devices == 6
    assert hlopass.inspect(GSPMD, devices=8) == hlopass.inspect(GSPMD)


def test_a_sharding_that_xla_drops_is_a_warning_and_unknown() -> None:
    inspection = hlopass.inspect(FOLDER / "unreadable.mlir")
    assert inspection.arguments[0].layout is None and "sharding-unreadable" in codes(inspection)


def test_accepted_uneven_dimensions_are_no_warning() -> None:
    spec = {"mesh": {"a": 3}, "args": {"w": ["a", None]}, "allow_uneven": True}
    inspection = hlopass.inspect(BARE, shard=spec)
    assert "shard-uneven" not in codes(inspection)


def test_json_keeps_its_old_fields_and_gains_new_ones() -> None:
    found = json.loads(hlopass.inspect(SHARDY, picture="x").to_json())
    old = {"entry", "arguments", "results", "donated_bytes", "could_save_bytes", "version"}
    assert old <= found.keys()
    assert found["arguments"][0]["sharding"] == '#sdy.sharding<@mesh, [{"data"}, {}]>'
    assert found["arguments"][0]["layout"]["device_bytes"] == 128
    assert found["per_device"]["total"] == 2816
    (drawn,) = found["pictures"]
    assert math.prod(drawn["tile"]) == len(drawn["blocks"])
    decoded = msgspec.json.decode(json.dumps(found), type=Inspection)
    assert decoded == hlopass.inspect(SHARDY, picture="x")


def test_pictures_are_found_by_name_index_and_pattern() -> None:
    def drawn(*names: int | str) -> list[tuple[str, int]]:
        pictures = hlopass.inspect(SHARDY, picture=names).pictures
        return [(each.role, each.index) for each in pictures]

    arguments = [("argument", index) for index in range(3)]
    assert drawn("x") == drawn("x", "x") == arguments[:1]
    assert drawn(2) == arguments[2:], "there is no result 2"
    assert drawn(0) == drawn("0") == [arguments[0], ("result", 0)]
    assert drawn("re:[wb]") == drawn("b", "w") == arguments[1:]
    assert drawn("*") == [*arguments, ("result", 0), ("result", 1)]
    assert hlopass.inspect(SHARDY, picture="x").pictures[0].text().startswith("argument 0 'x'")


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"picture": "xx"}, "argument-unknown"),
        ({"picture": 9}, "index-out-of-range"),
        ({"picture": ["x", "re:("]}, "pattern-invalid"),
        ({"devices": 4}, "mesh-devices"),
        ({"devices": 0}, "mesh-devices"),
        ({"devices": 10**9}, "mesh-devices"),
        ({"mesh": {"data": 4, "model": 2}}, "usage"),
        ({"existing": "nonsense"}, "usage"),
        ({"shard": {"mesh": {"a": "?"}}}, "mesh-open"),
        ({"shard": {"mesh": {"a": 3}, "args": {"x": ["a", None]}}}, "shard-uneven"),
        ({"shard": {"mesh": {"a": 8}, "args": {"xx": ["a", None]}}}, "argument-unknown"),
        ({"shard": {"mesh": {"a": 8}, "args": {"x": ["b", None]}}}, "axis-unknown"),
        ({"shard": {"mesh": {"a": 8}, "args": {"x": ["a", None]}}}, "sharding-differs"),
        ({"shard": "no_such_file.yaml"}, "file-not-found"),
    ],
)
def test_mistakes_are_diagnostics(options: dict[str, Any], code: str) -> None:
    with pytest.raises(HlopassError) as caught:
        hlopass.inspect(SHARDY, **options)
    assert code in [each.code for each in caught.value.diagnostics]


@pytest.mark.parametrize("mesh", [{"a": 0}, {"a": True}, {}, {"a b": 2}, {"a": 1 << 40}])
def test_a_mesh_that_is_none_is_a_diagnostic(mesh: dict[str, int]) -> None:
    with pytest.raises(HlopassError) as caught:
        hlopass.inspect(GSPMD, mesh=mesh)
    assert not isinstance(caught.value, UsageError)
