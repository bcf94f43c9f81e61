"""What `inspect --propagate` says, against what XLA compiles for eight devices."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

import partitioned
import pytest
import random_sharded

import hlopass
from hlopass import formats, sharding_attrs
from hlopass.diagnostics import CompilerDied, HlopassError
from hlopass.gspmd import ParsedTiles, parse_gspmd
from hlopass.program import meshes_of
from hlopass.proof import propagate
from hlopass.proof.observation import Job
from hlopass.report import Inspection

DEAD_CONSTRAINT = """
sdy.mesh @mesh = <["data"=4, "model"=2]>
func.func @main(%x: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %0 = stablehlo.tanh %x : tensor<8x16xf32>
  %1 = sdy.sharding_constraint %0 <@mesh, [{"data"}, {}]> : tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}
"""


def propagated(text: str) -> Inspection:
    """An inspection with propagation and a picture of everything."""
    return hlopass.inspect(text, propagate=True, picture="0:", label="program")


def tiles(inspection: Inspection) -> list[ParsedTiles]:
    """The blocks of arguments, then of results."""
    return [ParsedTiles("tiled", each.tile, each.blocks) for each in inspection.pictures]


def differences(
    inspections: dict[str, Inspection], modules: dict[str, str], shardy: bool = True
) -> tuple[list[str], int, dict[str, Any]]:
    """What XLA has otherwise, how many tensors there are, and what it compiled."""
    question = {name: (modules[name], shardy) for name in inspections}
    answer = partitioned.ask({"what": "compile", "compile": question})
    found, count = [], 0
    for name, inspection in inspections.items():
        compiled = [*answer[name]["parameters"], *answer[name]["results"]]
        for index, (mine, its) in enumerate(zip(tiles(inspection), compiled, strict=True)):
            count += 1
            if not mine.same_as(parse_gspmd(*its)):
                found.append(f"{name} {index}: {mine.tile}, and XLA has {its[0]}")
    return found, count, answer


@functools.cache
def jax_programs() -> dict[str, dict[str, Any]]:
    """Programs that JAX lowered in both dialects."""
    found: dict[str, dict[str, Any]] = partitioned.ask({"what": "lower"})
    return found


def variants() -> Iterator[tuple[str, str]]:
    """JAX's programs as they are, with open results, and with one sharded argument."""
    for name, lowered in jax_programs().items():
        count = len(formats.read(lowered["shardy"].encode(), name).arguments)
        for keep in (range(count), (0,), (count - 1,)):
            program = formats.read(lowered["shardy"].encode(), name)
            mesh = next(mesh for mesh in meshes_of(program.module).values() if mesh.axes)
            dropped = {index: None for index in range(count) if index not in keep}
            results = dict.fromkeys(range(len(program.results)))
            sharding_attrs.write(program, mesh, "shardy", dropped, results)
            yield f"{name} {[*keep]}", formats.write(program, "text").decode()


def test_jax_programs_become_what_xla_compiles() -> None:
    modules = dict(variants())
    inspections = {name: propagated(text) for name, text in modules.items()}
    found, count, answer = differences(inspections, modules)
    assert not found and count > 100
    for name, inspection in inspections.items():
        held = inspection.per_device
        assert held.arguments == answer[name]["argument_bytes"], name
        extra = answer[name]["result_bytes"] - held.results
        pointers = 8 * len(inspection.results) * (len(inspection.results) > 1)
        assert extra == pointers, name


def test_random_programs_become_what_xla_compiles() -> None:
    modules = {str(seed): random_sharded.program(seed) for seed in range(40)}
    modules = {name: text for name, text in modules.items() if text.count("@mesh") > 1}
    inspections = {name: propagated(text) for name, text in modules.items()}
    found, count, _ = differences(inspections, modules)
    assert not found and count > 100


def test_gspmd_programs_become_what_xla_compiles_of_the_converted() -> None:
    modules = {name: lowered["gspmd"] for name, lowered in jax_programs().items()}
    inspections = {name: propagated(text) for name, text in modules.items()}
    codes = {each.code for found in inspections.values() for each in found.diagnostics}
    assert "propagate-converted" in codes
    converted = {
        name: hlopass.rewrite(text, pipeline="convert-sharding{to=shardy}").text()
        for name, text in modules.items()
    }
    found, count, _ = differences(inspections, converted)
    assert not found and count > 30


def test_what_no_result_needs_counts_here_and_not_in_xla() -> None:
    """The one difference that is known, and that the README tells."""
    found, _, _ = differences({"dead": propagated(DEAD_CONSTRAINT)}, {"dead": DEAD_CONSTRAINT})
    assert len(found) == 2


def test_the_program_stays_as_it_is() -> None:
    rewritten = hlopass.rewrite(DEAD_CONSTRAINT)
    before = rewritten.text()
    inspection = hlopass.inspect(rewritten, propagate=True)
    assert inspection.propagates and rewritten.text() == before


RECURSIVE = """
sdy.mesh @mesh = <["data"=4]>
func.func @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}]>})
    -> tensor<8xf32> {
  %0 = call @f(%x) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
func.func private @f(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = call @f(%x) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
"""


def test_a_crash_is_an_error_and_this_process_lives() -> None:
    with pytest.raises(CompilerDied, match=r"crashed with SIG\w+ while propagating the shardings"):
        hlopass.inspect(RECURSIVE, propagate=True)


def test_time_is_limited() -> None:
    with pytest.raises(CompilerDied, match="time limit"):
        hlopass.inspect(DEAD_CONSTRAINT, propagate=True, timeout=1e-6)


def test_the_stage_is_told() -> None:
    stages: list[str] = []
    hlopass.inspect(DEAD_CONSTRAINT, propagate=True, progress=stages.append)
    assert stages


@pytest.mark.parametrize(
    ("pipeline", "code"),
    [("sdy-no-such-pipeline", "propagate-missing"), ("func.func(symbol-dce)", "propagate-failed")],
)
def test_what_shardy_refuses_is_a_diagnostic(
    pipeline: str, code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(propagate, "PIPELINE", pipeline)
    with pytest.raises(HlopassError) as caught:
        propagate.propagate(Job("x"), DEAD_CONSTRAINT.encode(), lambda _: None)
    assert [each.code for each in caught.value.diagnostics] == [code]
