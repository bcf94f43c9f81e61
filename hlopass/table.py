"""A proof as a table for people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, TextIO

from hlopass.report import (
    Argument,
    Inspected,
    Inspection,
    Probe,
    Report,
    ReportedDonation,
    ReportedSharding,
)

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

_STYLES = {"reused": "green", "not-run": "dim"}
_STYLES |= dict.fromkeys(("copied", "dropped", "unpaired"), "bold red")
_PIPE_WIDTH = 10_000
"""In a pipe or a file nothing is folded: a table takes the width that it needs."""


def print_proof(report: Report, file: TextIO) -> None:
    """Prints each donation with its verdict, and what all of them together save."""
    console = _console(file)
    if report.donations:
        _print_table(_donations(report.donations), console)
    if report.shardings:
        _print_table(_shardings(report.shardings), console)
    for line in summary(report):
        console.print(line, markup=False, soft_wrap=True)


def _donations(donations: tuple[ReportedDonation, ...]) -> Table:
    reasons = any(donation.reason for donation in donations)
    columns = ["argument", "name", "type", "bytes", "result", "verdict"]
    rows = []
    for donation in donations:
        argument = donation.argument
        name = argument.name or ""
        row = [str(argument.index), name, argument.type, _bytes(argument), _result(donation)]
        rows.append([*row, donation.verdict, *([_reason(donation)] if reasons else [])])
    return _table([*columns, *(["reason"] if reasons else [])], rows)


def _shardings(shardings: tuple[ReportedSharding, ...]) -> Table:
    """How often each sharding was asked and obtained; what was not obtained comes first."""
    groups: dict[tuple[str, str, str], list[ReportedSharding]] = {}
    for each in sorted(shardings, key=lambda each: each.as_asked is not False):
        verdict = "" if each.as_asked is not False else "uneven" if each.uneven else "no"
        groups.setdefault((each.asked or "(open)", each.obtained, verdict), []).append(each)
    wrong = any(verdict for _, _, verdict in groups)
    columns = ["asked", "obtained", *(["as asked"] if wrong else []), "of", "such as"]
    rows = []
    for (asked, obtained, verdict), found in groups.items():
        arguments = sum(each.argument is not None for each in found)
        counts = ((arguments, "argument"), (len(found) - arguments, "result"))
        of = ", ".join(counted(count, noun) for count, noun in counts if count)
        first = found[0]
        such = first.name or f"{counts[arguments == 0][1]} {first.argument or first.result or 0}"
        rows.append([asked, obtained, *([verdict] if wrong else []), of, such])
    return _table(columns, rows)


def _reason(donation: ReportedDonation) -> str:
    """A reason short enough for a table; what a copy comes from is in the report."""
    if donation.code is not None and donation.verdict in ("reused", "not-run"):
        return "costs a copy"
    return donation.reason or ""


def _bytes(value: Argument | Inspected) -> str:
    return "?" if value.bytes is None else f"{value.bytes:,}"


def _result(donation: ReportedDonation) -> str:
    if donation.result is None:
        return "(XLA chooses)" if donation.kind == "donor" else ""
    name = donation.result.name
    return str(donation.result.index) + ("" if name is None else f" {name}")


def print_inspection(inspection: Inspection, file: TextIO) -> None:
    """Prints arguments and results, and what could still be donated."""
    console = _console(file)
    rows = [[*_common(value), *_donation(value)] for value in inspection.arguments]
    columns = ["argument", "name", "type", "bytes", "donation", "what could be, or why not"]
    _print_table(_table(columns, rows), console)
    rows = [
        [*_common(value), "" if value.reuses is None else f"argument {value.reuses}"]
        for value in inspection.results
    ]
    _print_table(_table(["result", "name", "type", "bytes", "reuses"], rows), console)
    free = [value for value in inspection.arguments if value.could_serve is not None]
    console.print(f"donated: {inspection.donated_bytes:,} bytes", soft_wrap=True)
    console.print(
        f"{counted(len(free), 'more argument')} could be donated without a copy: "
        f"{inspection.could_save_bytes:,} bytes",
        soft_wrap=True,
    )
    for line in _names(inspection):
        console.print(line, markup=False, soft_wrap=True)
    _print_shardings(inspection, console)


def _names(inspection: Inspection) -> Iterator[str]:
    """Where the names come from, where not every one is read off the text, and which are shared."""
    for values, noun in ((inspection.arguments, "argument"), (inspection.results, "result")):
        sources = Counter(each.named_by for each in values if each.named_by is not None)
        if sources and set(sources) != {"SSA name"}:
            shown = ", ".join(f"{source} ({count})" for source, count in sources.items())
            yield f"names of {noun}s: {shown}"
        shared = Counter(each.name for each in values if each.name is not None)
        for name in [name for name, count in shared.items() if count > 1][:3]:
            places = [str(each.index) for each in values if each.name == name]
            yield f"{noun}s {', '.join(places[:8])} are all called '{name}': name them by index"


def _print_shardings(inspection: Inspection, console: Console) -> None:
    """Prints where tensors lie over devices, and the pictures that were asked for."""
    from hlopass import shard_table
    from hlopass.shard_picture import can_draw

    if shard_table.is_told(inspection):
        rows = [*shard_table.rows(inspection)]
        _print_table(_table(shard_table.columns(inspection), rows), console)
        for line in shard_table.summary(inspection):
            console.print(line, markup=False, soft_wrap=True)
    width = console.width if console.is_terminal else 100
    plain = not can_draw(console.encoding)
    for picture in inspection.pictures:
        console.print(f"\n{picture.text(width, ascii=plain)}", markup=False, soft_wrap=True)


def print_probe(probe: Probe, file: TextIO) -> None:
    """Prints what a platform answers."""
    console = _console(file)
    what = f"{probe.platform}: {counted(probe.devices, 'device')} ({probe.device})"
    console.print(f"{what}, jaxlib {probe.jaxlib}", markup=False, soft_wrap=True)
    rows = [[each.question, each.answer, each.detail or ""] for each in probe.answers]
    _print_table(_table(["question", "answer", "detail"], rows), console)


def _common(value: Inspected) -> list[str]:
    return [str(value.index), value.name or "", value.type, _bytes(value)]


def _donation(value: Inspected) -> list[str]:
    if value.donated == "donor":
        return ["donor", ""]
    if value.donated == "alias":
        return [
            f"to result {value.serves}",
            f"costs a copy: {value.reason}" if value.reason else "",
        ]
    if value.could_serve is not None:
        why = f" ({value.reason})" if value.reason else ""
        return ["", f"could serve result {value.could_serve}{why}"]
    return ["", value.reason or ""]


def _table(columns: list[str], rows: list[list[str]]) -> Table:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in columns:
        first = name in ("argument", "result") and name == columns[0]
        right = first or name.endswith("bytes")
        table.add_column(name, justify="right" if right else "left", overflow="fold")
    for row in rows:
        table.add_row(*(Text(_shown(cell), style=_STYLES.get(cell, "")) for cell in row))
    return table


def _shown(cell: str) -> str:
    """A cell with what a terminal would obey escaped."""
    return "".join(each if each.isprintable() else repr(each)[1:-1] for each in cell)


def _print_table(table: Table, console: Console) -> None:
    """Prints a table; in a pipe without the spaces that fill its lines."""
    if console.is_terminal:
        console.print(table)
        return
    with console.capture() as capture:
        console.print(table)
    lines = [line.rstrip() for line in capture.get().strip("\n").splitlines()]
    console.file.write("\n".join(lines) + "\n")


def counted(number: int, noun: str) -> str:
    """A number with its noun: `1 argument`, `2 arguments`."""
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def _console(file: TextIO) -> Console:
    from rich.console import Console

    width = None if file.isatty() else _PIPE_WIDTH
    return Console(file=file, width=width, highlight=False, soft_wrap=False)


def summary(report: Report) -> Iterator[str]:
    """The figures of a report in sentences, one a line."""
    yield from _of_donations(report)
    yield from _of_transfers(report)
    yield from _of_base(report)
    if report.devices > 1:
        yield from _of_devices(report)


def _of_donations(report: Report) -> Iterator[str]:
    count = len(report.donations)
    if not count:
        return
    if report.reused_bytes is None:
        yield f"{counted(count, 'donated argument')}, {report.donated_bytes:,} bytes; not run"
    else:
        reused = sum(donation.verdict == "reused" for donation in report.donations)
        yield (
            f"{reused} of {counted(count, 'donated argument')} reused: "
            f"{report.reused_bytes:,} of {report.donated_bytes:,} bytes"
            + (f", on all {report.devices} devices" if report.devices > 1 and reused else "")
        )
    if report.footprint is not None:
        without, with_ = report.footprint.without, report.footprint.with_
        change = f"saves {without - with_:,}" if with_ <= without else f"{with_ - without:,} more"
        each = " on each device" if report.devices > 1 else ""
        yield f"footprint {without:,} bytes without donation, {with_:,} with it: {change}{each}"
    if report.copies is not None and report.temp_bytes is not None:
        yield (
            f"copies {report.copies.without} without donation, {report.copies.with_} with it; "
            f"temp {report.temp_bytes.without:,} and {report.temp_bytes.with_:,} bytes"
        )
    if report.results_equal is not None:
        equal = "equal bit for bit" if report.results_equal else "NOT equal"
        yield f"results with and without donation are {equal}"


def _of_transfers(report: Report) -> Iterator[str]:
    """What was read and moved, where that is more than made-up values on one device."""
    moved = report.transfers
    if moved is None or (report.devices == 1 and not moved.read_bytes):
        return
    line = f"moved {counted(moved.tensors, 'tensor')} as {counted(moved.shards, 'shard')}: "
    line += f"{moved.bytes:,} bytes" + _beyond(moved.bytes, moved.least_bytes)
    if moved.read_bytes:
        line += f"; read {moved.read_bytes:,} bytes"
        line += _beyond(moved.read_bytes, moved.least_read_bytes)
    yield line


def _beyond(bytes: int, least: int) -> str:
    return ", the least possible" if bytes == least else f", and {least:,} would do"


def _of_base(report: Report) -> Iterator[str]:
    """How it compares with another program, or an older report."""
    against = report.against
    if against is None:
        return
    older = f" (jaxlib {against.jaxlib})" if against.jaxlib not in (None, report.jaxlib) else ""
    same = {"all": "the same program", "nothing": "another program", None: "a program"}
    what = same.get(against.same, f"the same program but for {(against.same or '')[8:]}")
    yield f"against {against.base}{older}: {what}"
    if against.lines is not None:
        yield f"  - {against.lines[0]}"
        yield f"  + {against.lines[1]}"
    counts = [f"{len(against.lost)} no more reused", f"{len(against.gained)} newly reused"]
    for name in ("copies", "temp_bytes", "footprint"):
        before, now = getattr(against, name)
        counts.append(f"{name.removesuffix('_bytes')} {before:,} to {now:,}")
    yield "  " + ", ".join(counts)
    if against.results_equal is not None:
        yield "  results " + ("agree" if against.results_equal else "do NOT agree")


def _of_devices(report: Report) -> Iterator[str]:
    """What a sharded program's devices exchange, and how it compares with one device."""
    exchanged = [
        f"{each.kind} {each.count} times ({each.bytes:,} bytes)" for each in report.collectives
    ]
    yield "each device takes part in: " + (", ".join(exchanged) or "no collectives")
    against = report.unsharded
    if against is None or against.footprint is None:
        return
    yield f"footprint {against.footprint:,} bytes on one device, without sharding and donation"
    if against.equal is not None and against.results is not None:
        equal = "agree" if against.equal else "do NOT agree"
        line = f"results on {report.devices} devices and on one {equal}: {against.exact} of "
        line += f"{against.results} bit for bit"
        if against.exact != against.results:
            line += f", the others to {against.largest:.1e} of their largest element"
            line += f" ({against.tolerance:.1e} allowed)"
        yield line
