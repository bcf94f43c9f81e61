"""From observations made by hand to verdicts and findings."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from hlopass.diagnostics import Diagnostic, UsageError
from hlopass.donation import Donation
from hlopass.proof.observation import Difference, Observation, Observed
from hlopass.proof.verdict import Requirements, judge, requirements
from hlopass.reasons import REASONS
from hlopass.report import (
    Argument,
    Evidence,
    Pair,
    Reason,
    Report,
    ReportedDonation,
    ReportedSharding,
    Result,
    Unsharded,
)
from hlopass.values import Value

ALL = requirements("all")
REUSED = Evidence(aliased=True, deleted=True, same_buffer=(True,))


def observed(
    index: int = 0,
    evidence: Evidence = REUSED,
    size: int = 16,
    result: int | None = 0,
    tied: int | None = 0,
    name: str | None = "w",
    cost: Reason | None = None,
) -> Observed:
    """A donation to `result`, or a donor where that is None."""
    return Observed(
        Argument(index, name, f"tensor<{size // 4}xf32>", size),
        None if result is None else Result(result, None),
        "donor" if result is None else "alias",
        tied,
        evidence,
        cost,
    )


def observation(*donations: Observed, **changes: Any) -> Observation:
    """A run in which nothing else was remarkable."""
    facts: dict[str, Any] = {
        "fingerprint": "f",
        "platform": "cpu",
        "devices": 1,
        "mode": "run",
        "donations": donations,
        "copies": Pair(1, 1),
        "temp_bytes": Pair(0, 0),
        "footprint": Pair(96, 64),
        "results_equal": True,
    }
    return Observation(**(facts | changes))


def judged(
    *donations: Observed,
    required: Requirements = ALL,
    asked: tuple[Donation, ...] = (),
    **changes: Any,
) -> tuple[Report, tuple[Diagnostic, ...]]:
    return judge(observation(*donations, **changes), required, asked, "step.mlir")


def only(donation: Observed, **changes: Any) -> ReportedDonation:
    """The donation of a program with just one, as it is reported."""
    return judged(donation, **changes)[0].donations[0]


def codes(diagnostics: tuple[Diagnostic, ...]) -> list[str]:
    return [diagnostic.code for diagnostic in diagnostics]


COPIED = Evidence(aliased=True, deleted=True, same_buffer=(False,))
KEPT = Evidence(aliased=True, deleted=False, same_buffer=(False,))
DROPPED = Evidence(aliased=False, deleted=False)
COMPILED = Evidence(aliased=True)


@pytest.mark.parametrize(
    ("donation", "verdict", "code", "reason"),
    [
        (observed(), "reused", None, None),
        (observed(evidence=Evidence(True, True, None)), "reused", None, None),
        (observed(evidence=Evidence(True, True, (True, True))), "reused", None, None),
        (
            observed(evidence=COPIED),
            "copied",
            "copied-at-run-time",
            "the result lies in another buffer than the argument",
        ),
        (
            observed(evidence=Evidence(True, True, (True, False, True, False))),
            "copied",
            "copied-at-run-time",
            "the result lies in another buffer than the argument on devices 1, 3",
        ),
        (
            observed(evidence=KEPT),
            "copied",
            "copied-at-run-time",
            "the runtime kept the argument's buffer",
        ),
        (
            observed(evidence=DROPPED, tied=None),
            "dropped",
            "dropped-by-compiler",
            "the compiled program's alias table lacks it",
        ),
        (
            observed(evidence=DROPPED, tied=3),
            "dropped",
            "dropped-by-compiler",
            "the compiled program ties it to result 3",
        ),
        (
            observed(evidence=DROPPED, result=None, tied=None),
            "unpaired",
            "no-result-of-size",
            "XLA found no free result of exactly 16 bytes",
        ),
        (observed(evidence=REUSED, result=None, tied=2), "reused", None, None),
        (observed(evidence=COMPILED), "not-run", None, None),
        (
            observed(evidence=Evidence(aliased=False), tied=None),
            "dropped",
            "dropped-by-compiler",
            ...,
        ),
    ],
)
def test_verdicts(donation: Observed, verdict: str, code: str | None, reason: Any) -> None:
    found = only(donation)
    assert (found.verdict, found.code) == (verdict, code)
    assert reason is ... or found.reason == reason
    assert found.evidence == donation.evidence
    assert found.code is None or found.code in REASONS


def test_what_a_reuse_costs_is_told() -> None:
    cost = Reason("read-later", "line 9 reads it after the write")
    found = only(observed(cost=cost))
    assert (found.verdict, found.code) == ("reused", "read-later")
    assert found.reason == "costs a copy: line 9 reads it after the write"
    assert only(observed(cost=cost, evidence=COMPILED)).code == "read-later"


def test_that_it_was_not_reused_counts_more_than_what_it_would_cost() -> None:
    cost = Reason("read-later", "line 9 reads it after the write")
    assert only(observed(cost=cost, evidence=COPIED)).code == "copied-at-run-time"


def test_a_failed_alias_is_an_error_that_names_the_argument() -> None:
    report, found = judged(observed(evidence=COPIED))
    assert not report.ok
    assert [str(diagnostic) for diagnostic in found] == [
        "step.mlir: error: argument 0 'w' is copied: the result lies in another buffer than "
        "the argument [donation-not-reused]"
    ]
    assert [each.code for each in report.diagnostics] == ["donation-not-reused"]


def test_an_argument_without_a_name_is_told_by_its_index() -> None:
    _, found = judged(observed(7, DROPPED, name=None, tied=None))
    assert found[0].message.startswith("argument 7 is dropped: ")


def test_every_failed_alias_is_told() -> None:
    _, found = judged(observed(0, COPIED), observed(1), observed(2, DROPPED, tied=None))
    assert [each.message.partition(" is ")[0] for each in found] == [
        "argument 0 'w'",
        "argument 2 'w'",
    ]


def test_donors_are_told_and_not_required() -> None:
    report, found = judged(observed(), observed(1, DROPPED, result=None, tied=None))
    assert report.ok
    assert found == ()
    assert report.donations[1].verdict == "unpaired"
    assert (report.reused_bytes, report.donated_bytes) == (16, 32)


def test_optional_donations_are_told_and_not_required() -> None:
    argument = Value("argument", 0, "w", "tensor<4xf32>", 16, (4,))
    asked = Donation(argument, None, "alias", "explicit", optional=True)
    report, found = judged(observed(evidence=COPIED), asked=(asked,))
    assert report.ok
    assert found == ()
    assert (report.donations[0].optional, report.donations[0].origin) == (True, "explicit")


def test_donations_that_nobody_asked_for_come_from_the_frontend() -> None:
    assert only(observed()).origin == "frontend"


@pytest.mark.parametrize(
    ("require", "ok"),
    [("all", False), ("none", True), ("75%", True), ("75.1%", False), ("0%", True), (0.5, True)],
)
def test_the_share_of_the_bytes_counts(require: str | float, ok: bool) -> None:
    report, found = judged(
        observed(0, size=48),
        observed(1, COPIED, size=16),
        required=requirements(require),
    )
    assert report.ok is ok
    assert bool(found) is not ok


def test_a_lost_donation_without_bytes_is_lost_all_the_same() -> None:
    report, _ = judged(observed(evidence=DROPPED, size=0, tied=None))
    assert not report.ok


def test_compiling_alone_asks_for_the_alias_table_only() -> None:
    assert judged(observed(evidence=COMPILED), mode="compile", results_equal=None)[0].ok
    report, found = judged(
        observed(evidence=Evidence(aliased=False), tied=None), mode="compile", results_equal=None
    )
    assert not report.ok
    assert codes(found) == ["donation-not-reused"]
    assert report.reused_bytes is None


def test_copies_that_donation_adds_are_limited() -> None:
    costly = {"copies": Pair(3, 5)}
    assert judged(observed(), required=Requirements(max_copies=2), **costly)[0].ok
    report, found = judged(observed(), required=Requirements(max_copies=1), **costly)
    assert not report.ok
    assert found[0].code == "too-many-copies"
    assert found[0].message == "donation adds 2 copies, and 1 are allowed"


def test_fewer_copies_than_before_are_no_fault() -> None:
    assert judged(observed(), required=Requirements(max_copies=0), copies=Pair(3, 1))[0].ok


def test_temporary_memory_is_limited() -> None:
    costly = {"temp_bytes": Pair(0, 4096)}
    assert judged(observed(), required=Requirements(max_temp_bytes=4096), **costly)[0].ok
    report, found = judged(observed(), required=Requirements(max_temp_bytes=4095), **costly)
    assert not report.ok
    assert found[0].code == "too-much-temp"
    assert found[0].message == "the program needs 4096 temporary bytes, and 4095 are allowed"


DIFFERENT = {
    "results_equal": False,
    "difference": Difference(Result(1, "loss"), (2, 0), "1.5", "nan"),
}


def test_results_that_differ_are_an_error_whatever_is_required() -> None:
    report, found = judged(observed(), required=requirements("none"), repeatable=True, **DIFFERENT)
    assert not report.ok
    assert report.results_equal is False
    assert [str(each) for each in found] == [
        "step.mlir: error: result 1 'loss' differs at [2, 0]: 1.5 without donation, nan with it "
        "[results-differ]"
    ]


def test_results_that_differ_by_themselves_prove_nothing() -> None:
    report, found = judged(observed(), repeatable=False, **DIFFERENT)
    assert report.ok
    assert report.results_equal is None
    assert [(each.code, each.severity) for each in found] == [("results-vary", "warning")]


def test_a_program_that_donates_nothing_says_so_and_is_fine() -> None:
    report, found = judged()
    assert report.ok
    assert [(each.code, each.severity) for each in found] == [("nothing-donated", "warning")]


def test_all_findings_come_at_once() -> None:
    required = Requirements(max_copies=0, max_temp_bytes=0)
    _, found = judged(
        observed(evidence=COPIED),
        required=required,
        copies=Pair(0, 1),
        temp_bytes=Pair(0, 1),
        **DIFFERENT,
    )
    assert codes(found) == [
        "donation-not-reused",
        "too-many-copies",
        "too-much-temp",
        "results-differ",
    ]


def test_the_report_has_the_shape_that_the_design_promises() -> None:
    report, _ = judged(observed())
    data = msgspec.json.decode(report.to_json())
    assert {
        "version": 1,
        "ok": True,
        "fingerprint": "f",
        "platform": "cpu",
        "devices": 1,
        "copies": {"without": 1, "with": 1},
        "temp_bytes": {"without": 0, "with": 0},
        "footprint": {"without": 96, "with": 64},
        "reused_bytes": 16,
        "donated_bytes": 16,
        "results_equal": True,
        "diagnostics": [],
    }.items() <= data.items()
    assert {
        "argument": {"index": 0, "name": "w", "type": "tensor<4xf32>", "bytes": 16},
        "result": {"index": 0, "name": None},
        "kind": "alias",
        "origin": "frontend",
        "verdict": "reused",
        "reason": None,
    }.items() <= data["donations"][0].items()
    evidence = data["donations"][0]["evidence"]
    assert {"aliased": True, "deleted": True, "same_buffer": [True]}.items() <= evidence.items()


@pytest.mark.parametrize(
    ("require", "share"),
    [
        ("all", 1.0),
        ("none", 0.0),
        ("95%", 0.95),
        (" 95% ", 0.95),
        ("0%", 0.0),
        ("100%", 1.0),
        (1, 1.0),
        (0.95, 0.95),
    ],
)
def test_requirements_are_read(require: str | float, share: float) -> None:
    assert requirements(require).share == pytest.approx(share)


@pytest.mark.parametrize("require", ["most", "", "95", "101%", "-1%", "nan%", "%", 1.5, -0.1, "x%"])
def test_requirements_that_mean_nothing_are_refused(require: str | float) -> None:
    with pytest.raises(UsageError) as error:
        requirements(require)
    (found,) = error.value.diagnostics
    assert found.code == "usage"
    assert found.help is not None
    assert found.help.startswith("legal: all, none, ")


def test_a_sharding_that_was_not_obtained_is_an_error() -> None:
    asked = ReportedSharding("[data]", "replicated", argument=1, name="w", as_asked=False)
    _, (found,) = judged(observed(), shardings=(asked,), devices=8)
    assert (found.code, found.severity) == ("sharding-not-obtained", "error")
    assert found.message == "argument 1 'w' is split as replicated, and [data] was asked"
    uneven = msgspec.structs.replace(asked, uneven=True)
    fine = msgspec.structs.replace(asked, as_asked=True)
    assert judged(observed(), shardings=(uneven, fine), devices=8)[1] == ()


@pytest.mark.parametrize(
    ("changes", "severity"),
    [({}, "error"), ({"random": True}, "warning"), ({"repeatable": False}, "warning")],
)
def test_results_that_the_split_changes(changes: dict[str, Any], severity: str) -> None:
    difference = Difference(Result(0, "loss"), (2,), "1.0", "1.5")
    report, found = judged(observed(), devices=8, unsharded_difference=difference, **changes)
    assert [each.severity for each in found] == [severity]
    assert "result 0 'loss' differs at [2]: 1.0 on one device, 1.5 on 8" in found[0].message
    assert report.ok is (severity == "warning")


def test_what_cannot_be_compared_is_told() -> None:
    report, (found,) = judged(observed(), devices=8, unsharded=Unsharded(reason="it is odd"))
    assert (found.code, found.message) == (
        "not-compared",
        "not compared with one device: it is odd",
    )
    assert report.ok
