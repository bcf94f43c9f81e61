"""What follows from holding a program against another, or against an older report. No compiler."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import msgspec

from hlopass.diagnostics import Diagnostic, Where, quoted
from hlopass.proof.observation import Base, Difference, Observation
from hlopass.proof.verdict import judge_one
from hlopass.report import Against, Argument, Digest, Report, ReportedDonation, Same, reported

_SHOWN = 5


def with_program(
    report: Report, base: Base, label: str, donations: Sequence[ReportedDonation]
) -> Against:
    """A report's program held against another; `donations`: the other's, judged."""
    return _against(
        report,
        donations,
        Against(
            label, report.jaxlib, base.same, base.lines, (), (),
            (base.copies, 0), (base.temp_bytes, 0), (base.footprint, 0), base.equal,
        ),
    )  # fmt: skip


def with_report(report: Report, base: Report, label: str) -> Against:
    """A report held against an older one, as after an upgrade of jaxlib."""
    equal = None
    if report.results and base.results:
        equal = [each.sha256 for each in report.results] == [each.sha256 for each in base.results]
    copies, temp, footprint = (
        (0 if pair is None else pair.with_, 0)
        for pair in (base.copies, base.temp_bytes, base.footprint)
    )
    same: Same | None = "all" if report.fingerprint == base.fingerprint else "nothing"
    if same == "nothing" and report.jaxlib != base.jaxlib:
        same = None
    found = Against(label, base.jaxlib, same, None, (), (), copies, temp, footprint, equal)
    return _against(report, base.donations, found)


def _against(report: Report, donations: Sequence[ReportedDonation], found: Against) -> Against:
    """Fills in what is lost and gained, and the figures of here."""
    before, now = _reused(donations), _reused(report.donations)
    pairs = {
        name: (getattr(found, name)[0], pair.with_)
        for name in ("copies", "temp_bytes", "footprint")
        if (pair := getattr(report, name)) is not None
    }
    return msgspec.structs.replace(
        found,
        lost=tuple(each for at, each in before.items() if at not in now),
        gained=tuple(each for at, each in now.items() if at not in before),
        **pairs,
    )


def _reused(donations: Iterable[ReportedDonation]) -> dict[int, Argument]:
    """The arguments that are reused, or where nothing ran, tied to a result."""
    return {
        each.argument.index: each.argument
        for each in donations
        if each.verdict == "reused" or (each.verdict == "not-run" and each.evidence.aliased)
    }


def added(
    report: Report,
    found: Sequence[Diagnostic],
    base: Base | Report,
    label: str,
    seen: Observation,
    where: Where,
    max_copies: int | None,
) -> tuple[Report, tuple[Diagnostic, ...]]:
    """A report and its diagnostics with what follows of the base, which is called `label`.

    `seen`: what was observed here. `max_copies`: how many more than the base are allowed.
    """
    if isinstance(base, Report):
        against = with_report(report, base, label)
        more = _findings(against, where, max_copies)
        if against.results_equal is False:
            more.append(_other_digest(against, where, base.results, report.results))
    else:
        against = with_program(report, base, label, [judge_one(each) for each in base.donations])
        more = _findings(against, where, max_copies)
        if base.difference is not None:
            more.append(_differs(against, where, base.difference))
        if base.reason is not None:
            message = f"results are not compared with those of {label}: {base.reason}"
            more.append(Diagnostic("against-not-compared", message, where, "warning"))
    if seen.random or seen.repeatable is False:
        note = "the program draws random numbers, or differs from run to run"
        more = [
            replace(each, severity="warning", notes=(*each.notes, note))
            if each.code == "against-results"
            else each
            for each in more
        ]
    report = msgspec.structs.replace(
        report,
        ok=report.ok and not any(each.severity == "error" for each in more),
        against=against,
        diagnostics=(*report.diagnostics, *map(reported, more)),
    )
    return report, (*found, *more)


def _findings(against: Against, where: Where, max_copies: int | None) -> list[Diagnostic]:
    """What is wanting, and what is to be known, but for results."""
    found = [
        Diagnostic("against-lost", f"{_name(each)} is reused in {against.base} alone", where)
        for each in against.lost[:_SHOWN]
    ]
    if len(against.lost) > _SHOWN:
        message = f"{len(against.lost) - _SHOWN} more arguments are reused in {against.base} alone"
        found.append(Diagnostic("against-lost", message, where))
    found += _figures(against, where, max_copies)
    return found


def _figures(against: Against, where: Where, max_copies: int | None) -> list[Diagnostic]:
    """Copies and memory that the base does without: an error beyond the copies that are allowed."""
    found = []
    before, now = against.copies
    allowed = max_copies is None or now - before <= max_copies
    if now > before:
        message = f"{now} copies, and {before} in {against.base}"
        finding = Diagnostic("against-copies", message, where)
        found.append(finding.as_warning() if allowed else finding)
    before, now = against.footprint
    if now > before:
        message = f"the footprint is {now} bytes, and {before} in {against.base}"
        found.append(Diagnostic("against-footprint", message, where, "warning"))
    return found


def _differs(against: Against, where: Where, difference: Difference) -> Diagnostic:
    result = difference.result
    name = f" {quoted(result.name)}" if result.name else ""
    message = (
        f"result {result.index}{name} differs at {list(difference.position)}: "
        f"{difference.without} in {against.base}, {difference.with_} here"
    )
    return Diagnostic("against-results", message, where)


def _other_digest(
    against: Against, where: Where, before: Sequence[Digest], now: Sequence[Digest]
) -> Diagnostic:
    """Which result is not that of an older report."""
    if len(before) != len(now):
        message = f"{len(now)} results, and {len(before)} in {against.base}"
        return Diagnostic("against-results", message, where)
    first, *others = [b for a, b in zip(before, now, strict=True) if a.sha256 != b.sha256]
    name = f" {quoted(first.name)}" if first.name else ""
    message = f"result {first.index}{name} is not that of {against.base}, bit for bit"
    notes = (f"nor are {len(others)} more of {len(now)} results",) if others else ()
    hint = "inputs, seed and platform must be the same for that"
    return Diagnostic("against-results", message, where, notes=notes, help=hint)


def _name(argument: Argument) -> str:
    name = "" if argument.name is None else f" {quoted(argument.name)}"
    return f"argument {argument.index}{name}"
