"""What a platform does with donations."""

from __future__ import annotations

import json

import pytest
from test_verdict import observation, observed
from test_verify_api import hlopass_cli

import hlopass
from hlopass.diagnostics import HlopassError, UsageError
from hlopass.proof import probe, run
from hlopass.report import Evidence, Pair, Probe, Probed

QUESTIONS = [
    "alias accepted",
    "argument deleted",
    "buffer reused",
    "donor paired",
    "reused without a copy",
    "results equal",
    "reused on every device",
    "double donation refused",
]


def test_the_cpu_honours_donation() -> None:
    found = hlopass.probe()
    assert [each.question for each in found.answers] == QUESTIONS
    assert {each.answer for each in found.answers} == {"yes"}
    assert (found.ok, found.platform) == (True, "cpu")


@pytest.mark.parametrize(
    ("evidence", "answer"),
    [
        (Evidence(True, True, (True, True)), ("yes", "on 2 of 2 devices")),
        (Evidence(True, True, (True, False)), ("no", "on 1 of 2 devices")),
        (Evidence(True, True, None), ("unknown", "it does not tell where buffers lie")),
        (Evidence(True, False, (True,)), ("no", "the argument's buffer is still there")),
        (Evidence(False, True), ("no", "the compiled program does not tie it to a result")),
    ],
)
def test_what_counts_as_reused(evidence: Evidence, answer: tuple[str, str]) -> None:
    assert probe._reused(observed(evidence=evidence)) == answer


def test_a_copy_by_data_flow_is_no() -> None:
    good, crossed = observation(copies=Pair(0, 0)), observation(copies=Pair(0, 4))
    assert probe._copies(good, crossed)[0] == "yes"
    assert probe._copies(crossed, crossed)[0] == "no"


def test_no_is_found_wanting(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = (Probed("buffer reused", "no", "it lies elsewhere"),)
    found = Probe(False, "cpu", "cpu", "0.10", 1, answers)
    monkeypatch.setattr(run, "probe", lambda *_: found)
    told, data = hlopass_cli("probe"), hlopass_cli("probe", "--json")
    assert (told.exit_code, data.exit_code) == (3, 3)
    assert " buffer reused   no       it lies elsewhere" in told.stdout
    assert json.loads(data.stdout)["answers"][0]["answer"] == "no"


@pytest.mark.parametrize("platform", ["nowhere", "cuda"])
def test_a_platform_that_is_not_there(platform: str) -> None:
    with pytest.raises(HlopassError) as caught:
        hlopass.probe(platform)
    (found,) = caught.value.diagnostics
    assert (found.code, found.message) == (
        "platform-unknown",
        f"there is no platform '{platform}' here",
    )


@pytest.mark.parametrize("platform", ["", "cpu,cuda", "a b"])
def test_what_is_no_platform(platform: str) -> None:
    with pytest.raises(UsageError):
        hlopass.probe(platform)
