"""A program held against another, or against the report of an earlier proof; several runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from proof_programs import ALIAS_0, BY_FLOW, CROSSED, STEP, swap
from test_verify_api import hlopass_cli

import hlopass
from hlopass.api import Proof
from hlopass.diagnostics import HlopassError
from hlopass.proof import runs
from hlopass.proof.observation import Observed
from hlopass.report import Argument, Evidence, Result

OTHER = STEP.replace("stablehlo.add %w, %w", "stablehlo.multiply %w, %w")
NEARLY = STEP.replace(
    "%0 = stablehlo.add %w, %w : tensor<4xf32>",
    "%c = stablehlo.constant dense<2.0000002> : tensor<4xf32>\n"
    "  %0 = stablehlo.multiply %w, %c : tensor<4xf32>",
)


def codes(proof: Proof) -> dict[str, str]:
    return {each.code: each.severity for each in proof.report.diagnostics}


def test_the_same_program_is_the_same() -> None:
    proof = hlopass.verify(BY_FLOW, against=BY_FLOW)
    against = proof.report.against
    assert proof.ok and against is not None
    assert (against.same, against.lines, against.results_equal) == ("all", None, True)
    assert against.lost == against.gained == ()
    assert against.copies == (0, 0)
    assert against.jaxlib == proof.report.jaxlib


def test_donations_that_are_lost_fail_and_those_that_are_new_do_not() -> None:
    lost = hlopass.verify(swap("", ALIAS_0), against=BY_FLOW)
    assert not lost.ok
    assert codes(lost) == {"against-lost": "error", "against-footprint": "warning"}
    assert lost.diagnostics[0].message == "argument 0 'a' is reused in <text> alone"
    assert lost.report.against is not None and lost.report.against.same == "all but donation"
    gained = hlopass.verify(BY_FLOW, against=swap("", ""))
    assert gained.ok and gained.report.against is not None
    assert [each.name for each in gained.report.against.gained] == ["a", "b"]


def test_more_copies_are_told_and_fail_where_they_are_limited() -> None:
    told = hlopass.verify(CROSSED, against=BY_FLOW)
    assert told.ok and codes(told)["against-copies"] == "warning"
    limited = hlopass.verify(CROSSED, against=BY_FLOW, max_copies=1)
    assert not limited.ok and codes(limited)["against-copies"] == "error"


def test_results_that_differ_are_shown() -> None:
    proof = hlopass.verify(OTHER, against=STEP, inputs={"w": np.array([2, 2, 3, 5], np.float32)})
    (finding,) = [each for each in proof.diagnostics if each.severity == "error"]
    assert finding.code == "against-results"
    assert finding.message == "result 0 differs at [2]: 6.0 in <text>, 9.0 here"
    against = proof.report.against
    assert against is not None and (against.same, against.results_equal) == ("nothing", False)
    assert against.lines is not None
    assert "stablehlo.add" in against.lines[0] and "stablehlo.multiply" in against.lines[1]


def test_a_tolerance_allows_what_is_near() -> None:
    assert not hlopass.verify(NEARLY, against=STEP).ok
    assert hlopass.verify(NEARLY, against=STEP, tolerance=1e-6).ok
    assert not hlopass.verify(OTHER, against=STEP, tolerance=1e-6).ok


def test_programs_that_take_something_else_are_not_compared() -> None:
    wide = STEP.replace("4xf32", "5xf32")
    proof = hlopass.verify(STEP, against=wide)
    assert proof.ok and codes(proof)["against-not-compared"] == "warning"
    (said,) = [each.message for each in proof.diagnostics if each.severity == "warning"]
    assert said.endswith("its argument 0 'w' is tensor<5xf32>, and argument 0 'w' is tensor<4xf32>")
    more = hlopass.verify(STEP, against=BY_FLOW, mode="compile").report.against
    assert more is not None and more.results_equal is None


def test_a_base_for_another_number_of_devices_is_refused() -> None:
    sharded = "module attributes {mhlo.num_partitions = 2 : i32} {" + STEP + "}"
    with pytest.raises(HlopassError, match="it is for 2 devices"):
        hlopass.verify(STEP, against=sharded)


def test_compiled_alone_the_tables_are_compared() -> None:
    proof = hlopass.verify(swap("", ALIAS_0), against=BY_FLOW, mode="compile")
    assert codes(proof)["against-lost"] == "error"


def test_an_older_report_is_a_base(tmp_path: Path) -> None:
    before = hlopass.verify(BY_FLOW).report
    path = tmp_path / "old.json"
    path.write_text(before.to_json())
    same = hlopass.verify(BY_FLOW, against=path)
    assert same.ok and same.report.against is not None
    assert (same.report.against.same, same.report.against.results_equal) == ("all", True)
    other = hlopass.verify(BY_FLOW, against=before, seed=1)
    assert codes(other) == {"against-results": "error"}
    older = msgspec.structs.replace(before, jaxlib="0.8.0", fingerprint="f")
    against = hlopass.verify(BY_FLOW, against=older).report.against
    assert against is not None and (against.same, against.jaxlib) == (None, "0.8.0")
    lost = hlopass.verify(swap("", ALIAS_0), against=before)
    assert codes(lost)["against-lost"] == "error"


def test_on_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "base.mlir").write_text(STEP)
    (tmp_path / "new.mlir").write_text(OTHER)
    new, base, report = (str(tmp_path / each) for each in ("new.mlir", "base.mlir", "r.json"))
    done = hlopass_cli("verify", new, "--against", base)
    assert done.exit_code == 3
    assert f"against {base}: another program\n" in done.stdout
    assert "\n  0 no more reused, 0 newly reused, copies 0 to 0, temp 0 to 0" in done.stdout
    assert "\n  results do NOT agree\n" in done.stdout
    assert hlopass_cli("verify", base, "--report", report).exit_code == 0
    assert hlopass_cli("verify", base, "--against", report).exit_code == 0
    done = hlopass_cli("verify", new, "--against", report)
    assert done.exit_code == 3
    assert "result 0 is not that of" in done.stderr
    assert hlopass_cli("verify", "-", "--against", "-", text=STEP).exit_code == 2
    (tmp_path / "r.json").write_text('{"version": "x"}')
    done = hlopass_cli("verify", new, "--against", report)
    assert done.exit_code == 1 and "[report-unreadable]" in done.stderr
    done = hlopass_cli("verify", new, "--against", str(tmp_path / "none.mlir"))
    assert done.exit_code == 1 and "[file-not-found]" in done.stderr


# Several runs


def test_several_runs_are_all_looked_at() -> None:
    proof = hlopass.verify(BY_FLOW, runs=3)
    assert proof.ok and proof.report.runs == 3
    transfers = proof.report.transfers
    assert transfers is not None
    assert transfers.bytes == transfers.least_bytes == 3 * 2 * 64 * 64 * 4
    done = hlopass_cli("verify", "-", "--runs", "2", "--json", text=STEP)
    assert msgspec.json.decode(done.stdout)["runs"] == 2


def observed(deleted: bool, same: tuple[bool, ...], held: Any = None) -> Observed:
    evidence = Evidence(aliased=True, deleted=deleted, same_buffer=same, held_by=held)
    return Observed(Argument(0, "w", "t", 4), Result(0, None), "alias", 0, evidence)


def test_one_bad_run_is_enough() -> None:
    good, bad = observed(True, (True, True)), observed(False, (True, False), "numpy")
    first = runs._both(good, good, 1)
    second = runs._both(first, bad, 2)
    third = runs._both(second, good, 3)
    assert first.evidence.failed_run is None
    assert third.evidence == Evidence(
        aliased=True, deleted=False, same_buffer=(True, False), held_by="numpy", failed_run=2
    )
