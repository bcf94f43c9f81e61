"""From what was observed to verdicts, and to what is found wanting. Knows no compiler."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from hlopass.diagnostics import Diagnostic, UsageError, Where, quoted
from hlopass.donation import Donation
from hlopass.proof.observation import Difference, Observation, Observed
from hlopass.report import Report, ReportedDonation, ReportedSharding, Verdict, reported

_HOLDERS = {
    "numpy": "a numpy array is a view of it",
    "other": "something else holds it, as a view of dlpack does",
}


@dataclass(frozen=True)
class Requirements:
    """What a proof must show.

    `share`: the part of the donated bytes that must be reused, 0 to 1; donors and optional
    donations do not count. `max_copies`: copies that donation may add. `max_temp_bytes`:
    temporary memory of the donated program.
    """

    share: float = 1.0
    max_copies: int | None = None
    max_temp_bytes: int | None = None


def requirements(
    require: str | float = "all", max_copies: int | None = None, max_temp_bytes: int | None = None
) -> Requirements:
    """Reads "all", "none", "95%", or a number from 0 to 1. Raises UsageError on others."""
    words = {"all": 1.0, "none": 0.0}
    share: float | None = None
    if isinstance(require, str):
        text = require.strip()
        share = words.get(text)
        if share is None and text.endswith("%"):
            try:
                share = float(text[:-1]) / 100
            except ValueError:
                share = None
    else:
        share = float(require)
    if share is None or not 0 <= share <= 1:
        message = f"cannot require {quoted(str(require))}"
        raise UsageError(
            Diagnostic(
                "usage", message, help="legal: all, none, 0% to 100%, or a number from 0 to 1"
            )
        )
    return Requirements(share, max_copies, max_temp_bytes)


def judge(
    observation: Observation,
    required: Requirements,
    asked: Sequence[Donation],
    label: str,
) -> tuple[Report, tuple[Diagnostic, ...]]:
    """The report, and the diagnostics of what is wanting; the report's `ok` is False then.

    `asked`: where the donations came from, if that is known.
    """
    origins = {donation.argument.index: donation for donation in asked}
    donations = tuple(
        judge_one(each, origins.get(each.argument.index)) for each in observation.donations
    )
    where = Where(label)
    ran = observation.mode == "run"
    reused = sum(d.argument.bytes or 0 for d in donations if d.verdict == "reused")
    donations = tuple(_with_run(each, observation.runs) for each in donations)
    findings = [
        *_not_reused(donations, required.share, ran, where),
        *_figures(observation, required, where),
        *_results(observation, where),
        *_sharded(observation, where),
    ]
    findings += [
        Diagnostic("donor-unpaired", f"{_name(d)} is {d.verdict}: {d.reason}", where, "warning")
        for d in donations
        if d.verdict == "unpaired" and d.origin == "explicit"
    ]
    if not donations:
        message = "the program donates nothing"
        findings.append(Diagnostic("nothing-donated", message, where, "warning"))
    report = Report(
        ok=not any(finding.severity == "error" for finding in findings),
        fingerprint=observation.fingerprint,
        platform=observation.platform,
        devices=observation.devices,
        donations=donations,
        copies=observation.copies,
        temp_bytes=observation.temp_bytes,
        footprint=observation.footprint,
        reused_bytes=reused if ran else None,
        donated_bytes=sum(d.argument.bytes or 0 for d in donations),
        results_equal=None if observation.repeatable is False else observation.results_equal,
        shardings=observation.shardings,
        collectives=observation.collectives,
        unsharded=observation.unsharded,
        transfers=observation.transfers,
        runs=observation.runs,
        results=observation.results,
        jaxlib=observation.jaxlib,
        diagnostics=(*observation.warnings, *(reported(finding) for finding in findings)),
    )
    return report, tuple(findings)


def judge_one(each: Observed, asked: Donation | None = None) -> ReportedDonation:
    """The verdict on one donation; `asked`: where it came from, if that is known."""
    verdict, code, reason = _verdict(each)
    if verdict in ("reused", "not-run") and code is None and each.cost is not None:
        code, reason = each.cost.code, f"costs a copy: {each.cost.text}"
    return ReportedDonation(
        each.argument,
        each.result,
        each.kind,
        "frontend" if asked is None else asked.origin,
        verdict,
        reason,
        code=code,
        optional=asked is not None and asked.optional,
        evidence=each.evidence,
    )


def _with_run(each: ReportedDonation, runs: int) -> ReportedDonation:
    """A donation whose reason says in which of several runs it was first not reused."""
    run = each.evidence.failed_run
    if run is None or each.verdict != "copied" or each.reason is None:
        return each
    return msgspec.structs.replace(each, reason=each.reason + _in_run(run, runs))


def _in_run(run: int, runs: int) -> str:
    return f", in run {run} of {runs}" if runs > 1 else ""


def _verdict(each: Observed) -> tuple[Verdict, str | None, str | None]:
    """A verdict, a reason's code, and the reason."""
    facts = each.evidence
    if not facts.aliased:
        if each.kind == "donor":
            reason = f"XLA found no free result of exactly {each.argument.bytes} bytes"
            return "unpaired", "no-result-of-size", reason
        reason = "the compiled program's alias table lacks it"
        if each.tied is not None:
            reason = f"the compiled program ties it to result {each.tied}"
        return "dropped", "dropped-by-compiler", reason
    if each.argument.bytes == 0:
        return "not-run", "no-buffer", "it holds no elements: there is nothing to reuse"
    if facts.deleted is None:
        return "not-run", None, None
    if facts.deleted and (facts.same_buffer is None or all(facts.same_buffer)):
        return "reused", None, None
    if not facts.deleted:
        reason = "the runtime kept the argument's buffer"
        if facts.held_by is not None:
            reason += f": {_HOLDERS[facts.held_by]}"
        return "copied", "copied-at-run-time", reason
    reason = "the result lies in another buffer than the argument"
    assert facts.same_buffer is not None
    if any(facts.same_buffer):
        elsewhere = [device for device, same in enumerate(facts.same_buffer) if not same]
        reason += f" on {_devices(elsewhere)}"
    return "copied", "copied-at-run-time", reason


def _devices(devices: Sequence[int]) -> str:
    return f"device{'s' * (len(devices) > 1)} {', '.join(map(str, devices))}"


def _not_reused(
    donations: Sequence[ReportedDonation], share: float, ran: bool, where: Where
) -> list[Diagnostic]:
    """Required donations that were not reused, where their share is too small."""
    good = ("reused",) if ran else ("not-run",)
    required = [d for d in donations if d.kind == "alias" and not d.optional]
    failed = [d for d in required if d.verdict not in good and d.code != "no-buffer"]
    total = sum(d.argument.bytes or 0 for d in required)
    lost = sum(d.argument.bytes or 0 for d in failed)
    if not failed or (total and total - lost >= share * total - 1e-9) or share == 0:
        return []
    return [
        Diagnostic("donation-not-reused", f"{_name(d)} is {d.verdict}: {d.reason}", where)
        for d in failed
    ]


def _name(donation: ReportedDonation) -> str:
    argument = donation.argument
    name = "" if argument.name is None else f" {quoted(argument.name)}"
    return f"argument {argument.index}{name}"


def _figures(observation: Observation, required: Requirements, where: Where) -> list[Diagnostic]:
    found = []
    added = observation.copies.with_ - observation.copies.without
    if required.max_copies is not None and added > required.max_copies:
        message = f"donation adds {added} copies, and {required.max_copies} are allowed"
        found.append(Diagnostic("too-many-copies", message, where))
    temp = observation.temp_bytes.with_
    if required.max_temp_bytes is not None and temp > required.max_temp_bytes:
        message = f"the program needs {temp} temporary bytes, and {required.max_temp_bytes} are"
        found.append(Diagnostic("too-much-temp", f"{message} allowed", where))
    return found


def _results(observation: Observation, where: Where) -> list[Diagnostic]:
    """What follows from results that differ; nothing, if they do so without donation too."""
    difference = observation.difference
    if difference is None:
        return []
    result = _result(difference)
    if observation.repeatable is False:
        message = f"{result} differs from run to run, so what donation does to it is not known"
        note = "two runs without donation, on the same inputs, differ too"
        return [Diagnostic("results-vary", message, where, "warning", notes=(note,))]
    message = (
        f"{result} differs at {list(difference.position)}: {difference.without} without "
        f"donation, {difference.with_} with it" + _in_run(difference.run, observation.runs)
    )
    return [Diagnostic("results-differ", message, where)]


def _sharded(observation: Observation, where: Where) -> list[Diagnostic]:
    """Shardings that did not come out as asked, and results that the split changes."""
    found = []
    for each in observation.shardings:
        if each.as_asked is False and not each.uneven:
            message = f"{_split(each)} is split as {each.obtained}, and {each.asked} was asked"
            found.append(Diagnostic("sharding-not-obtained", message, where))
    against = observation.unsharded
    if against is not None and against.reason is not None:
        message = f"not compared with one device: {against.reason}"
        found.append(Diagnostic("not-compared", message, where, "warning"))
    difference = observation.unsharded_difference
    if difference is None:
        return found
    message = (
        f"{_result(difference)} differs at {list(difference.position)}: {difference.without} on "
        f"one device, {difference.with_} on {observation.devices}"
    )
    if observation.random or observation.repeatable is False:
        note = "the program draws random numbers, each device its own"
        found.append(Diagnostic("results-vary", message, where, "warning", notes=(note,)))
    else:
        found.append(Diagnostic("results-differ-sharded", message, where))
    return found


def _split(each: ReportedSharding) -> str:
    role, index = ("argument", each.argument) if each.result is None else ("result", each.result)
    return f"{role} {index}" + (f" {quoted(each.name)}" if each.name else "")


def _result(difference: Difference) -> str:
    name = difference.result.name
    return f"result {difference.result.index}" + (f" {quoted(name)}" if name else "")
