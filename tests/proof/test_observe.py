"""What the child sees of real programs: each is compiled and run once."""

from __future__ import annotations

from typing import Any

import jaxlib.mlir.ir as ir
import numpy as np
import pytest
from proof_programs import BY_FLOW, CROSSED, DONOR, DONORS, NOTHING, STEP, swap, verified
from test_inputs import TYPES

from hlopass.api import Proof
from hlopass.proof import compiler, execute, runs
from hlopass.proof.observation import Job

UNCOMPILABLE = ("f6E2M3FN", "f6E3M2FN")
"""Element types that the CPU compiler of jaxlib 0.8.0 to 0.10.2 refuses."""

ELEMENTS = [each for each in TYPES if each not in UNCOMPILABLE]
SHAPES = ((3, 5), (), (0, 5))


def returned(types: list[str]) -> str:
    """A program that donates each argument to the result that it is returned as."""
    arguments = ", ".join(
        f"%a{i}: {type_} {{tf.aliasing_output = {i} : i32}}" for i, type_ in enumerate(types)
    )
    names = ", ".join(f"%a{i}" for i in range(len(types)))
    listed = ", ".join(types)
    return f"func.func @main({arguments}) -> ({listed}) {{\n  func.return {names} : {listed}\n}}\n"


def verdicts(proof: Proof) -> list[str]:
    return [donation.verdict for donation in proof.donations]


def test_an_alias_is_reused() -> None:
    proof = verified(STEP)
    assert verdicts(proof) == ["reused"]
    donation = proof.donations[0]
    assert (donation.argument.name, donation.argument.bytes) == ("w", 16)
    evidence = donation.evidence
    assert (evidence.aliased, evidence.deleted, evidence.same_buffer) == (True, True, (True,))
    report = proof.report
    assert (report.reused_bytes, report.donated_bytes, report.results_equal) == (16, 16, True)
    assert report.footprint is not None
    assert report.footprint.without - report.footprint.with_ == 16


def test_a_donor_is_paired_by_its_size_or_not_at_all() -> None:
    proof = verified(DONORS)
    assert verdicts(proof) == ["reused", "unpaired"]
    paired, unpaired = proof.donations
    assert (paired.kind, paired.result) == ("donor", None)
    assert paired.evidence.same_buffer == (True,)
    assert unpaired.reason == "XLA found no free result of exactly 32 bytes"
    assert (unpaired.evidence.aliased, unpaired.evidence.deleted) == (False, False)


def test_a_crossed_pairing_is_reused_and_costs_copies() -> None:
    crossed, by_flow = verified(CROSSED), verified(BY_FLOW)
    assert verdicts(crossed) == verdicts(by_flow) == ["reused", "reused"]
    assert crossed.report.copies is not None
    assert crossed.report.copies.with_ > crossed.report.copies.without
    assert {each.code for each in crossed.donations} != {None}
    assert by_flow.report.copies is not None
    assert by_flow.report.copies.with_ == by_flow.report.copies.without == 0
    assert [each.reason for each in by_flow.donations] == [None, None]


def test_a_program_that_donates_nothing() -> None:
    proof = verified(NOTHING)
    assert proof.ok
    assert proof.donations == ()
    assert [each.code for each in proof.diagnostics] == ["nothing-donated"]
    assert proof.report.results_equal is True


def test_compiling_alone_runs_nothing() -> None:
    proof = verified(STEP, "compile")
    assert verdicts(proof) == ["not-run"]
    evidence = proof.donations[0].evidence
    assert (evidence.aliased, evidence.deleted, evidence.same_buffer) == (True, None, None)
    assert (proof.report.results_equal, proof.report.reused_bytes) == (None, None)


def test_the_fingerprint_is_that_of_the_program_not_of_what_is_compiled() -> None:
    run, compiled = verified(STEP), verified(STEP, "compile")
    assert run.report.fingerprint == compiled.report.fingerprint
    assert run.report.fingerprint != verified(NOTHING).report.fingerprint


@pytest.mark.parametrize("shape", SHAPES, ids=["matrix", "scalar", "empty"])
def test_every_element_type_runs_and_is_reused(shape: tuple[int, ...]) -> None:
    types = [f"tensor<{''.join(f'{n}x' for n in each)}{e}>" for each in SHAPES for e in ELEMENTS]
    proof = verified(returned(types))
    assert proof.report.results_equal is True
    start = SHAPES.index(shape) * len(ELEMENTS)
    for element, donation in zip(ELEMENTS, proof.donations[start:], strict=False):
        verdict = "not-run" if 0 in shape else "reused"
        assert (element, donation.verdict) == (element, verdict)
        expected = None if 0 in shape else (True,)
        assert donation.evidence.same_buffer == expected


TOKENS = """
func.func @main(%t: !stablehlo.token, %w: tensor<4xf32> {tf.aliasing_output = 1 : i32})
    -> (!stablehlo.token, tensor<4xf32>) {
  %0 = stablehlo.add %w, %w : tensor<4xf32>
  func.return %t, %0 : !stablehlo.token, tensor<4xf32>
}
"""


def test_tokens_go_in_and_out() -> None:
    proof = verified(TOKENS)
    assert verdicts(proof) == ["reused"]
    assert proof.report.results_equal is True


LAPACK = """
func.func @main(%a: tensor<4x4xf32> {tf.aliasing_output = 0 : i32}) -> tensor<4x4xf32> {
  %0:3 = stablehlo.custom_call @lapack_sgetrf_ffi(%a) {
    api_version = 4 : i32, backend_config = {},
    operand_layouts = [dense<[0, 1]> : tensor<2xindex>],
    result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>,
                      dense<> : tensor<0xindex>]
  } : (tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4xi32>, tensor<i32>)
  func.return %0#0 : tensor<4x4xf32>
}
"""
"""An LU factorization, by a function of LAPACK's that jaxlib looks up in scipy."""


def test_lapack_is_there() -> None:
    proof = verified(LAPACK)
    assert verdicts(proof) == ["reused"]
    assert proof.report.results_equal is True


OTHER_ENTRY = STEP.replace("@main", "@step")


def test_an_entry_by_another_name_runs() -> None:
    assert verdicts(verified(OTHER_ENTRY, entry="step")) == ["reused"]


BESIDE_MAIN = """
func.func @main(%w: tensor<4xf32>) -> tensor<4xf32> {
  %0 = func.call @step(%w) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}
func.func private @main_0(%w: tensor<4xf32>) -> tensor<4xf32> {
  func.return %w : tensor<4xf32>
}
func.func @step(%w: tensor<4xf32> {tf.aliasing_output = 0 : i32}) -> tensor<4xf32> {
  %0 = func.call @main_0(%w) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = stablehlo.add %0, %w : tensor<4xf32>
  func.return %1 : tensor<4xf32>
}
"""


def test_an_entry_beside_main_runs_instead_of_it() -> None:
    assert verdicts(verified(BESIDE_MAIN, entry="step")) == ["reused"]
    assert verified(BESIDE_MAIN).donations == ()


def test_donors_that_xla_pairs_crosswise_cost_copies() -> None:
    proof = verified(swap(DONOR, DONOR))
    assert verdicts(proof) == ["reused", "reused"]
    assert proof.report.copies is not None
    assert proof.report.copies.with_ > proof.report.copies.without


NO_ARGUMENTS = """
func.func @main() -> tensor<4xf32> {
  %0 = stablehlo.constant dense<1.0> : tensor<4xf32>
  func.return %0 : tensor<4xf32>
}
"""
NO_RESULTS = """
func.func @main(%w: tensor<4xf32> {jax.buffer_donor = true}) {
  func.return
}
"""


def test_a_program_without_arguments_runs() -> None:
    assert verified(NO_ARGUMENTS).report.results_equal is True


def test_a_program_without_results_runs() -> None:
    assert verdicts(verified(NO_RESULTS)) == ["unpaired"]


@pytest.mark.parametrize(("changed", "repeatable"), [((1,), True), ((1, 2), False), ((2,), None)])
def test_results_that_differ_are_looked_at_again(
    monkeypatch: pytest.MonkeyPatch, changed: tuple[int, ...], repeatable: bool | None
) -> None:
    """`changed`: in which runs, counting from 0, an element is another one.

    The runs are: without donation, with it, and again without where these two differ.
    """
    ran: list[str] = []
    fetch = runs.fetch

    def fetched(results: list[object], label: str) -> list[np.ndarray]:
        arrays = [array.copy() for array in fetch(results, label)]
        if len(ran) in changed:
            arrays[0][2] += len(ran)
        ran.append(label)
        return arrays

    monkeypatch.setattr(runs, "fetch", fetched)
    stages: list[str] = []
    found = execute.observe(Job("step.mlir"), STEP.encode(), stages.append)
    assert found.results_equal is (repeatable is None)
    assert found.repeatable is repeatable
    assert len(ran) == (2 if repeatable is None else 3)
    assert stages[-1].endswith("again") is (repeatable is not None)
    if found.difference is not None:
        assert (found.difference.result.index, found.difference.position) == (0, (2,))
        changed_by = float(found.difference.with_) - float(found.difference.without)
        assert changed_by == pytest.approx(1)


def test_a_program_is_parsed_once_and_compiled_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    parsed, compiled = [], []
    parse, build = ir.Module.parse, compiler.compile_module

    def counted(*arguments: Any, **options: Any) -> Any:
        parsed.append(arguments)
        return parse(*arguments, **options)

    def built(*arguments: Any) -> Any:
        compiled.append(arguments[1])
        return build(*arguments)

    monkeypatch.setattr(ir.Module, "parse", counted)
    monkeypatch.setattr(compiler, "compile_module", built)
    execute.observe(Job("step.mlir"), BY_FLOW.encode(), lambda _: None)
    assert len(parsed) == 1
    assert len(compiled) == len(set(compiled)) == 2
    execute.observe(Job("step.mlir"), NOTHING.encode(), lambda _: None)
    assert (len(parsed), len(compiled)) == (2, 3), "without donations both programs are one"
