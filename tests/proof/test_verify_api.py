"""`verify` and `rewrite --verify`, from Python and from the command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner, Result
from proof_programs import BY_FLOW, CROSSED, DONORS, NOTHING, STEP, swap
from test_hostile import ENDLESS, LARGE_ARGUMENT, PARSER_DIVIDES_BY_ZERO

import hlopass
from hlopass.cli import cli
from hlopass.diagnostics import UsageError
from hlopass.proof import run
from hlopass.proof.observation import Difference, Job, Observation
from hlopass.report import Evidence
from hlopass.report import Result as ReportedResult

DONATE_BOTH = {"donate": [{"arg": 0}, {"arg": "b"}]}


def hlopass_cli(*arguments: str, text: str | None = None) -> Result:
    """The command line in this process; standard input is `text`."""
    return CliRunner().invoke(
        cli, arguments, input=text, catch_exceptions=False, prog_name="hlopass"
    )


Change = Callable[[Observation], dict[str, Any]]


class Recorder:
    """Stands for `run.observe`: keeps what it is asked, and changes what it saw by `change`."""

    def __init__(self) -> None:
        self.change: Change = lambda _: {}
        self.jobs: list[Job] = []

    def __call__(self, data: bytes, job: Job, *rest: Any) -> Observation:
        self.jobs.append(job)
        key = data, msgspec.structs.replace(job, label="")
        if key not in OBSERVED:
            OBSERVED[key] = REALLY_OBSERVE(data, job, *rest)
        return msgspec.structs.replace(OBSERVED[key], **self.change(OBSERVED[key]))


REALLY_OBSERVE = run.observe
OBSERVED: dict[tuple[bytes, Job], Observation] = {}
"""What each program showed, so that each is run once in this file."""


@pytest.fixture(autouse=True)
def recorder(monkeypatch: pytest.MonkeyPatch) -> Recorder:
    recorder = Recorder()
    monkeypatch.setattr(run, "observe", recorder)
    return recorder


def first_is_copied(observation: Observation) -> dict[str, Any]:
    """A change after which the first donation is one that the runtime copied."""
    copied = Evidence(aliased=True, deleted=True, same_buffer=(False,))
    first, *others = observation.donations
    return {"donations": (msgspec.structs.replace(first, evidence=copied), *others)}


def differing(repeatable: bool) -> Change:
    """A change after which results differ."""
    difference = Difference(ReportedResult(0, None), (1, 2), "1.0", "2.0")
    facts = {"results_equal": False, "difference": difference, "repeatable": repeatable}
    return lambda _: facts


# From Python


def test_a_proof_holds_the_verdicts_and_says_whether_it_is_ok() -> None:
    proof = hlopass.verify(BY_FLOW, label="step.mlir")
    assert proof.ok
    assert [each.verdict for each in proof.donations] == ["reused", "reused"]
    assert proof.donations is proof.report.donations
    assert proof.diagnostics == ()


def test_what_rewrite_returns_is_verified_as_it_was_asked_for() -> None:
    rewritten = hlopass.rewrite(swap("", ""), donate=DONATE_BOTH, label="step.mlir")
    proof = hlopass.verify(rewritten, require="all", max_copies=0, max_temp_bytes=0)
    assert proof.ok
    pairs = [(each.argument.index, each.result and each.result.index) for each in proof.donations]
    assert pairs == [(0, 1), (1, 0)]
    assert {each.origin for each in proof.donations} == {"explicit"}


def test_an_optional_donation_that_is_copied_is_no_fault(recorder: Recorder) -> None:
    donate = {"donate": [{"arg": 0, "optional": True}]}
    rewritten = hlopass.rewrite(NOTHING, donate=donate)
    recorder.change = first_is_copied
    proof = hlopass.verify(rewritten)
    assert proof.ok
    assert (proof.donations[0].verdict, proof.donations[0].optional) == ("copied", True)


def test_requirements_are_checked_before_anything_is_compiled(recorder: Recorder) -> None:
    with pytest.raises(UsageError):
        hlopass.verify(STEP, require="most")
    assert recorder.jobs == []


def test_a_path_and_bytes_are_verified_alike(tmp_path: Path) -> None:
    path = tmp_path / "step.mlir"
    path.write_text(STEP)
    from_path = hlopass.verify(path, label="step.mlir")
    assert hlopass.verify(STEP.encode(), label="step.mlir").report == from_path.report
    bytecode = hlopass.rewrite(STEP).bytecode()
    again = hlopass.verify(bytecode, label="step.mlir")
    assert [each.verdict for each in again.donations] == ["reused"]


def test_the_stages_are_told_in_order() -> None:
    told: list[str] = []
    REALLY_OBSERVE(STEP.encode(), Job("step.mlir"), None, told.append)
    order = [
        "starting",
        "reading the module",
        "making up the inputs",
        "looking at the donations",
        "starting the runtime",
        "compiling without donation",
        "compiling with donation",
        "running without donation",
        "running with donation",
    ]
    assert [stage for stage in order if stage in told] == told
    assert "starting the runtime" in told


def test_the_seed_reaches_the_child(recorder: Recorder) -> None:
    hlopass.verify(STEP, seed=7)
    assert recorder.jobs[-1].seed == 7


# From the command line


def test_verify_prints_a_table_and_exits_with_0() -> None:
    found = hlopass_cli("verify", "-", text=BY_FLOW)
    assert found.exit_code == 0
    assert found.stderr == ""
    assert "2 of 2 donated arguments reused: 32,768 of 32,768 bytes" in found.stdout
    assert "results with and without donation are equal bit for bit" in found.stdout


def test_verify_of_a_program_that_donates_nothing_says_so_and_exits_with_0() -> None:
    found = hlopass_cli("verify", "-", text=NOTHING)
    assert found.exit_code == 0
    assert found.stdout == ""
    assert found.stderr == "<stdin>: warning: the program donates nothing [nothing-donated]\n"


def test_unpaired_donors_are_told_and_exit_with_0() -> None:
    found = hlopass_cli("verify", "-", text=DONORS)
    assert found.exit_code == 0
    assert "unpaired" in found.stdout
    assert "XLA found no free result of exactly 32 bytes" in found.stdout


def test_verify_json_has_the_shape_that_the_design_promises() -> None:
    found = hlopass_cli("verify", "-", "--json", text=BY_FLOW)
    assert found.exit_code == 0
    data = json.loads(found.stdout)
    kinds = {
        "version": int,
        "ok": bool,
        "fingerprint": str,
        "platform": str,
        "devices": int,
        "donations": list,
        "copies": dict,
        "temp_bytes": dict,
        "footprint": dict,
        "reused_bytes": int,
        "donated_bytes": int,
        "results_equal": bool,
        "diagnostics": list,
    }
    assert {name: type(data[name]) for name in kinds} == kinds
    assert data["footprint"].keys() == data["copies"].keys() == {"without", "with"}
    first = data["donations"][0]
    assert first["argument"] == {
        "index": 0,
        "name": "a",
        "type": "tensor<64x64xf32>",
        "bytes": 16384,
    }
    assert first["result"] == {"index": 1, "name": None}
    assert (first["kind"], first["origin"], first["verdict"]) == ("alias", "frontend", "reused")
    assert first["reason"] is None
    evidence = {"aliased": True, "deleted": True, "same_buffer": [True]}
    assert evidence.items() <= first["evidence"].items()


def test_json_goes_to_standard_output_and_the_findings_to_standard_error() -> None:
    found = hlopass_cli("verify", "-", "--json", "--max-copies", "0", text=CROSSED)
    assert found.exit_code == 3
    data = json.loads(found.stdout)
    assert data["ok"] is False
    assert [each["code"] for each in data["diagnostics"]] == ["too-many-copies"]
    assert found.stderr.startswith("<stdin>: error: donation adds ")
    assert found.stderr.count("too-many-copies") == 1


def test_the_report_is_written_even_where_something_is_wanting(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    found = hlopass_cli("verify", "-", "--max-copies", "0", "--report", str(path), text=CROSSED)
    assert found.exit_code == 3
    assert json.loads(path.read_text())["ok"] is False


@pytest.mark.parametrize(
    ("options", "exit_code", "code"),
    [
        (["--max-copies", "0"], 3, "too-many-copies"),
        (["--max-copies", "100"], 0, None),
        (["--max-temp-bytes", "0"], 3, "too-much-temp"),
        (["--max-temp-bytes", "1000000"], 0, None),
        (["--require", "none", "--max-copies", "0"], 3, "too-many-copies"),
        (["--require", "most"], 2, "usage"),
        (["--require", "101%"], 2, "usage"),
        (["--max-copies", "-1"], 2, None),
    ],
)
def test_limits_and_exit_statuses(options: list[str], exit_code: int, code: str | None) -> None:
    found = hlopass_cli("verify", "-", *options, text=CROSSED)
    assert found.exit_code == exit_code
    assert code is None or found.stderr.count(f"[{code}]") == 1


@pytest.mark.parametrize(
    ("require", "exit_code"), [("all", 3), ("51%", 3), ("50%", 0), ("none", 0)]
)
def test_the_required_share(recorder: Recorder, require: str, exit_code: int) -> None:
    recorder.change = first_is_copied
    found = hlopass_cli("verify", "-", "--require", require, text=BY_FLOW)
    assert found.exit_code == exit_code
    assert found.stderr.count("[donation-not-reused]") == (exit_code != 0)
    assert "1 of 2 donated arguments reused: 16,384 of 32,768 bytes" in found.stdout


def test_results_that_differ_exit_with_3_whatever_is_required(recorder: Recorder) -> None:
    recorder.change = differing(repeatable=True)
    found = hlopass_cli("verify", "-", "--require", "none", text=BY_FLOW)
    assert found.exit_code == 3
    assert found.stderr == (
        "<stdin>: error: result 0 differs at [1, 2]: 1.0 without donation, 2.0 with it "
        "[results-differ]\n"
    )
    assert "results with and without donation are NOT equal" in found.stdout


def test_results_that_vary_by_themselves_exit_with_0(recorder: Recorder) -> None:
    recorder.change = differing(repeatable=False)
    found = hlopass_cli("verify", "-", text=BY_FLOW)
    assert found.exit_code == 0
    assert found.stderr.count("[results-vary]") == 1
    assert "equal" not in found.stdout


def test_a_diagnosed_failure_exits_with_1() -> None:
    found = hlopass_cli("verify", "-", text="module {")
    assert found.exit_code == 1
    assert "[module-parse]" in found.stderr
    assert found.stdout == ""


def test_a_crash_exits_with_4() -> None:
    found = hlopass_cli("verify", "-", text=PARSER_DIVIDES_BY_ZERO)
    assert found.exit_code == 4
    assert found.stderr.count("[compiler-crashed]") == 1


# `rewrite --verify`


def written(tmp_path: Path, *options: str, text: str, donate: object = None) -> tuple[Result, Path]:
    """`rewrite` with those options, and where its output would be."""
    module, output = tmp_path / "in.mlir", tmp_path / "out.mlir"
    module.write_text(text)
    if donate is not None:
        (tmp_path / "donate.json").write_text(json.dumps(donate))
        options = (*options, "--donate", str(tmp_path / "donate.json"))
    return hlopass_cli("rewrite", str(module), "-o", str(output), *options), output


@pytest.mark.parametrize("option", ["--verify", "--verify=run", "--verify=compile"])
def test_what_is_proved_is_written(tmp_path: Path, option: str, recorder: Recorder) -> None:
    found, output = written(tmp_path, option, text=swap("", ""), donate=DONATE_BOTH)
    assert found.exit_code == 0, found.output
    assert output.read_text().count("tf.aliasing_output") == 2
    assert found.stdout == ""
    assert [job.mode for job in recorder.jobs] == ["compile" if "compile" in option else "run"]


def test_nothing_is_written_where_something_is_wanting(tmp_path: Path, recorder: Recorder) -> None:
    recorder.change = first_is_copied
    found, output = written(tmp_path, "--verify", text=swap("", ""), donate=DONATE_BOTH)
    assert found.exit_code == 3
    assert found.stderr.count("[donation-not-reused]") == 1
    assert not output.exists()
    assert sorted(each.name for each in tmp_path.iterdir()) == ["donate.json", "in.mlir"]


def test_nothing_is_written_where_the_program_does_not_end(tmp_path: Path) -> None:
    found, output = written(tmp_path, "--verify", "--timeout", "3", text=ENDLESS)
    assert found.exit_code == 4
    assert found.stderr.count("[time-limit]") == 1
    assert not output.exists()


def test_an_output_that_was_there_stays_where_something_is_wanting(
    tmp_path: Path, recorder: Recorder
) -> None:
    (tmp_path / "out.mlir").write_text("as it was")
    recorder.change = differing(repeatable=True)
    found, output = written(tmp_path, "--verify", text=swap("", ""), donate=DONATE_BOTH)
    assert found.exit_code == 3
    assert output.read_text() == "as it was"


def test_compiling_moves_nothing(tmp_path: Path) -> None:
    """An argument of four terabytes is compiled, donated and written: no data ever exists."""
    found, output = written(tmp_path, "--verify=compile", text=LARGE_ARGUMENT)
    assert found.exit_code == 0, found.output
    assert output.read_text() == LARGE_ARGUMENT
    assert "not-run" in found.stderr


def test_the_report_of_a_rewriting_is_that_of_its_proof(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    found, _ = written(
        tmp_path, "--verify", "--report", str(path), text=swap("", ""), donate=DONATE_BOTH
    )
    assert found.exit_code == 0
    data = json.loads(path.read_text())
    assert [each["verdict"] for each in data["donations"]] == ["reused", "reused"]
    assert {each["origin"] for each in data["donations"]} == {"explicit"}
    assert data["results_equal"] is True
