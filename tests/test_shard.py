"""`hlopass.rewrite` with a spec."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import hlopass

STEP = """func.func @main(%w: tensor<16x8xf32> loc("w"), %x: tensor<4x16xf32> loc("x"))
    -> (tensor<16x8xf32> {jax.result_info = "w"}, tensor<4x8xf32> {jax.result_info = "y"}) {
  %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
    : (tensor<4x16xf32>, tensor<16x8xf32>) -> tensor<4x8xf32>
  %g = stablehlo.dot_general %x, %y, contracting_dims = [0] x [0]
    : (tensor<4x16xf32>, tensor<4x8xf32>) -> tensor<16x8xf32>
  %new = stablehlo.subtract %w, %g : tensor<16x8xf32>
  return %new, %y : tensor<16x8xf32>, tensor<4x8xf32>
}"""
SPEC: dict[str, Any] = {
    "mesh": {"data": "?", "model": "?"},
    "args": {"w": [None, "model"], "x": ["data", None]},
}


def shards(rewritten: hlopass.Rewritten) -> list[int | None]:
    """What a device holds of each argument and result."""
    program = rewritten.program
    return [value.held for value in (*program.arguments, *program.results)]


def unplaced(text: str) -> str:
    """A program without its locations, whose numbers depend on what came before."""
    return re.sub(r"^#loc.*\n| loc\(#loc\d*\)", "", text, flags=re.MULTILINE)


def codes(error: pytest.ExceptionInfo[hlopass.HlopassError]) -> list[str]:
    return [each.code for each in error.value.diagnostics]


def test_one_spec_is_bound_to_many_meshes() -> None:
    spec = hlopass.load_spec(SPEC)
    for data, model in ((4, 2), (2, 2), (1, 8)):
        bound = spec.bind({"data": data, "model": model})
        rewritten = hlopass.rewrite(STEP, donate=["w"], shard=bound)
        assert shards(rewritten)[:3] == [512 // model, 256 // data, 512 // model]
        assert rewritten.program.partitions == data * model
    assert spec.open_axes == ("data", "model")


def test_it_is_bound_where_it_is_given() -> None:
    by_mesh = hlopass.rewrite(STEP, shard=SPEC, mesh={"data": 2, "model": 4})
    by_count = hlopass.rewrite(STEP, shard=SPEC, mesh={"model": 4}, devices=8)
    assert by_mesh.text() == by_count.text()
    bound = hlopass.load_spec(SPEC).bind({"data": 2, "model": 4})
    assert hlopass.rewrite(STEP, shard=bound, devices=8).text() == by_mesh.text()


def test_a_mesh_may_be_written_as_the_command_line_has_it() -> None:
    by_text = hlopass.rewrite(STEP, shard=SPEC, mesh="data=2,model=4")
    assert by_text.text() == hlopass.rewrite(STEP, shard=SPEC, mesh={"data": 2, "model": 4}).text()
    assert hlopass.load_spec(SPEC).bind("data=2,model=4").mesh.size == 8


@pytest.mark.parametrize("mesh", [8, [("data", 2)], "data", True])
def test_what_is_no_mesh(mesh: Any) -> None:
    for use in (hlopass.load_spec(SPEC).bind, lambda m: hlopass.rewrite(STEP, shard=SPEC, mesh=m)):
        with pytest.raises(hlopass.HlopassError) as error:
            use(mesh)
        assert codes(error) == ["usage"]


@pytest.mark.parametrize(
    ("again", "code"),
    [
        ({"mesh": {"data": 2, "model": 2}}, "mesh-fixed"),
        ({"mesh": {"model": 4}}, "mesh-fixed"),
        ({"mesh": {"x": 2}}, "axis-unknown"),
        ({"devices": 4}, "mesh-devices"),
    ],
)
def test_a_bound_spec_stays_bound(again: dict[str, Any], code: str) -> None:
    bound = hlopass.load_spec(SPEC).bind({"data": 4, "model": 2})
    with pytest.raises(hlopass.HlopassError) as error:
        hlopass.rewrite(STEP, shard=bound, **again)
    assert codes(error) == [code]
    hlopass.rewrite(STEP, shard=bound, mesh={"model": 2}, devices=8)


@pytest.mark.parametrize("dialect", ["shardy", "gspmd"])
@pytest.mark.parametrize("mesh", ["data=2,model=2", "data=1,model=8", "data=2,model=4"])
def test_a_program_is_moved_to_another_mesh(mesh: str, dialect: str) -> None:
    spec = SPEC | {"dialect": dialect}
    there = hlopass.rewrite(STEP, donate=["w"], shard=spec, mesh="data=4,model=2")
    moved = hlopass.rewrite(
        there.text(), donate=["w"], shard=spec, mesh=mesh, existing="replace"
    ).text()
    fresh = hlopass.rewrite(STEP, donate=["w"], shard=spec, mesh=mesh).text()
    assert unplaced(moved.replace("@mesh_0", "@mesh")) == unplaced(fresh)


def test_an_open_mesh_is_an_error_unless_it_is_only_checked() -> None:
    with pytest.raises(hlopass.HlopassError) as error:
        hlopass.rewrite(STEP, shard=SPEC)
    assert codes(error) == ["mesh-open"]
    checked = hlopass.rewrite(STEP, shard=SPEC, allow_open=True)
    assert [each.code for each in checked.diagnostics] == ["mesh-open"]
    assert not checked.changed
    wrong = SPEC | {"args": {"w": ["data"], "q": []}}
    with pytest.raises(hlopass.HlopassError) as error:
        hlopass.rewrite(STEP, shard=wrong, allow_open=True)
    assert codes(error) == ["shard-rank", "argument-unknown"]


def test_a_mesh_needs_a_spec_and_a_pipeline_a_pass_that_reads_it() -> None:
    for options in (
        {"mesh": {"data": 2}},
        {"shard": SPEC, "devices": 2, "pipeline": "donate-args"},
    ):
        with pytest.raises(hlopass.HlopassError):
            hlopass.rewrite(STEP, **options)  # type: ignore[arg-type]


def test_results_follow_what_they_reuse_and_nothing_else() -> None:
    options: dict[str, Any] = {"shard": SPEC, "mesh": {"data": 2, "model": 2}}
    alone = hlopass.rewrite(STEP, **options)
    assert alone.program.result_shardings == {}
    donated = hlopass.rewrite(STEP, donate=["w"], **options)
    assert set(donated.program.result_shardings) == {0}
    left = hlopass.rewrite(STEP, donate=["w"], **(options | {"shard": SPEC | {"results": {}}}))
    assert left.program.result_shardings == {}
    assert "shard-result-open" in [each.code for each in left.diagnostics]


def test_a_second_rewriting_changes_nothing(tmp_path: Path) -> None:
    options: dict[str, Any] = {"shard": SPEC, "mesh": {"data": 2, "model": 2}, "donate": ["w"]}
    once = hlopass.rewrite(STEP, **options)
    again = hlopass.rewrite(once.text(), **options)
    assert once.changed and not again.changed
    bytecode = hlopass.rewrite(once.bytecode(), **options)
    assert not bytecode.changed


def test_the_input_is_as_it_was_after_an_error(tmp_path: Path) -> None:
    module = hlopass.rewrite(STEP).program.module
    before = str(module)
    with pytest.raises(hlopass.HlopassError):
        hlopass.rewrite(module, shard=SPEC | {"mesh": {"data": 3, "model": 1}})
    assert str(module) == before


@pytest.mark.parametrize("dialect", ["shardy", "gspmd"])
def test_pairs_are_made_by_what_a_device_holds(dialect: str) -> None:
    text = """func.func @main(%a: tensor<16xf32> loc("a"), %b: tensor<16xf32> loc("b"))
        -> (tensor<16xf32> {jax.result_info = "whole"}, tensor<4xf32> {jax.result_info = "part"}) {
      %0 = stablehlo.add %b, %b : tensor<16xf32>
      %1 = stablehlo.slice %b [0:4] : (tensor<16xf32>) -> tensor<4xf32>
      return %0, %1 : tensor<16xf32>, tensor<4xf32>
    }"""
    spec = {
        "mesh": {"x": 4},
        "dialect": dialect,
        "args": {"a": ["x"]},
        "results": {"*": "replicated"},
    }
    for pairing in ("flow", "order"):
        rewritten = hlopass.rewrite(text, donate=["a"], shard=spec, pairing=pairing)  # type: ignore[arg-type]
        (donation,) = rewritten.donations
        assert donation.result is not None and donation.result.name == "part"
    whole = hlopass.rewrite(text, donate=["a"])
    assert whole.donations[0].result is not None and whole.donations[0].result.name == "whole"


def test_an_open_result_takes_the_sharding_of_any_argument_of_its_shape() -> None:
    text = """func.func @main(%a: tensor<8x8xf32> loc("a"), %b: tensor<8x8xf32> loc("b"))
        -> (tensor<8x8xf32>, tensor<8x8xf32>) {
      %0 = stablehlo.add %b, %b : tensor<8x8xf32>
      %1 = stablehlo.multiply %a, %a : tensor<8x8xf32>
      return %0, %1 : tensor<8x8xf32>, tensor<8x8xf32>
    }"""
    spec = {"mesh": {"x": 4, "y": 2}, "args": {"a": ["x", None], "b": [None, "y"]}}
    rewritten = hlopass.rewrite(text, donate=["a", "b"], shard=spec)
    pairs = {d.argument.name: d.result.index for d in rewritten.donations if d.result}
    assert pairs == {"a": 1, "b": 0}
    assert shards(rewritten) == [64, 128, 128, 64]
