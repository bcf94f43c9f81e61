"""What a manifest asks of each argument of a program. No MLIR."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from hlopass import manifest as manifests
from hlopass.diagnostics import Diagnostic, HlopassError, Where, quoted
from hlopass.donation import Donation, unfit
from hlopass.manifest import DonateEntry, Manifest
from hlopass.values import Value, is_pattern, same_size, select


@dataclass(frozen=True)
class Request:
    """What one entry of a manifest asks of one argument; `exact`: of it by name or index."""

    argument: Value
    entry: DonateEntry
    exact: bool
    asked_at: Where
    result: Value | None = None

    def donation(self) -> Donation:
        """The donation that is asked for."""
        return Donation(
            self.argument,
            self.result,
            self.entry.kind,
            "explicit",
            self.entry.optional,
            self.asked_at,
        )

    def note(self) -> str:
        """Who asks, for a diagnostic."""
        return f"asked for by {self.asked_at}"


@dataclass
class Asked:
    """All that a manifest asks: donations by argument, arguments to keep, and mistakes."""

    donations: dict[int, Donation] = field(default_factory=dict)
    kept: dict[int, Value] = field(default_factory=dict)
    diagnostics: list[Diagnostic] = field(default_factory=list)


def read(
    manifest: Manifest, label: str, arguments: Sequence[Value], results: Sequence[Value]
) -> Asked:
    """Resolves a manifest against a program's signature; every mistake is found.

    An argument counts once: an entry that means it alone beats a pattern, `keep` beats all.
    """
    reader = _Reader(arguments, results)
    reader.keep(manifest, label)
    requests: dict[int, Request] = {}
    for number, entry in enumerate(manifest.entries()):
        asked_at = manifests.pointer(label, "donate", number)
        for request in reader.entry(entry, asked_at):
            reader.unite(requests, request)
    reader.settle(requests)
    return reader.asked


class _Reader:
    def __init__(self, arguments: Sequence[Value], results: Sequence[Value]) -> None:
        self.arguments = arguments
        self.results = results
        self.asked = Asked()

    def keep(self, manifest: Manifest, label: str) -> None:
        for number, selector in enumerate(manifest.keep):
            asked_at = manifests.pointer(label, "keep", number)
            try:
                found = select(selector, self.arguments, "argument", asked_at).values
            except HlopassError as error:
                self.asked.diagnostics += error.diagnostics
                continue
            self.asked.kept.update((value.index, value) for value in found)

    def entry(self, entry: DonateEntry, asked_at: Where) -> list[Request]:
        """One entry's requests, of arguments that may be donated."""
        result = None
        if entry.result is not None:
            try:
                result = self._one_result(entry.result, asked_at)
            except HlopassError as error:
                self.asked.diagnostics += error.diagnostics
        try:
            selection = select(entry.arg, self.arguments, "argument", asked_at)
        except HlopassError as error:
            missing = error.diagnostics[0].code == "argument-unknown"
            softened = [found.as_warning() for found in error.diagnostics]
            optional = entry.optional and missing
            self.asked.diagnostics += softened if optional else list(error.diagnostics)
            return []
        if entry.result is not None and len(selection.values) > 1:
            self._add(_one_result_for_many(entry, selection.values, asked_at))
        elif entry.result is None or result is not None:
            exact = selection.exact
            asked = [Request(value, entry, exact, asked_at, result) for value in selection.values]
            if not exact and all(value.index in self.asked.kept for value in selection.values):
                message = f"{quoted(str(entry.arg))} asks only for arguments that 'keep' lists"
                self._add(Diagnostic("donate-kept", message, asked_at, "warning"))
            return [request for request in asked if self._may_donate(request)]
        return []

    def _one_result(self, selector: int | str, asked_at: Where) -> Value:
        found = select(selector, self.results, "result", asked_at).values
        if len(found) > 1:
            shown = ", ".join(str(value.index) for value in found)
            message = f"{selector!r} means {len(found)} results: {shown}"
            hint = "an argument's buffer can serve one result"
            raise HlopassError(Diagnostic("result-for-many", message, asked_at, help=hint))
        return found[0]

    def _may_donate(self, request: Request) -> bool:
        """Whether the argument is not kept and has a buffer; says so where it matters."""
        argument = request.argument
        if argument.index in self.asked.kept:
            if request.exact:
                message = f"{argument} is listed under 'donate' and under 'keep': it is kept"
                self._add(Diagnostic("donate-kept", message, request.asked_at, "warning"))
            return False
        if argument.internal is not None and not request.exact:
            return False
        reason = argument.obstacle
        if reason is None and argument.internal is not None:
            reason = f"it is {argument.internal}"
        if reason is None:
            return True
        empty = argument.bytes == 0
        finding = Diagnostic(
            "donate-empty" if empty else "donate-impossible",
            f"cannot donate {argument}: {reason}",
            argument.where,
            notes=(f"argument is {argument.described()}", request.note()),
            help=None if empty else "leave it out, or list it under 'keep'",
        )
        self._add(finding.as_warning() if empty or request.entry.optional else finding)
        return False

    def unite(self, requests: dict[int, Request], new: Request) -> None:
        """Counts an argument once; two requests of it alone must agree."""
        old = requests.get(new.argument.index)
        if old is None or (new.exact and not old.exact):
            requests[new.argument.index] = new
        elif new.exact and (new.entry.kind, new.result) != (old.entry.kind, old.result):
            message = f"{new.argument} is asked for twice, in two ways"
            notes = (old.note(), new.note())
            self._add(Diagnostic("donate-twice", message, new.argument.where, notes=notes))

    def settle(self, requests: dict[int, Request]) -> None:
        """Turns requests into donations, explicit pairs checked."""
        taken: dict[int, Request] = {}
        for index in sorted(requests):
            request = requests[index]
            finding = self._bad_pair(request, taken)
            if finding is not None:
                self._add(finding.as_warning() if request.entry.optional else finding)
                continue
            if request.result is not None:
                taken[request.result.index] = request
            self.asked.donations[index] = request.donation()

    def _bad_pair(self, request: Request, taken: dict[int, Request]) -> Diagnostic | None:
        """What stands against an explicit pair, if anything."""
        argument, result = request.argument, request.result
        if result is None:
            return None
        to = f"cannot donate {argument} to {result}"
        if result.index in taken:
            other = taken[result.index]
            message = f"{to}: {other.argument} takes it already"
            notes = (other.note(), request.note())
            return Diagnostic("donate-result-taken", message, argument.where, notes=notes)
        reason = unfit(argument, result)
        if reason is None:
            return None
        differ = reason.code == "donate-size-mismatch"
        return Diagnostic(
            reason.code,
            f"{to}: {reason.reason}",
            argument.where,
            notes=(reason.note, request.note()),
            help=results_of_size(argument, self.results) if differ else None,
        )

    def _add(self, diagnostic: Diagnostic) -> None:
        self.asked.diagnostics.append(diagnostic)


def results_of_size(argument: Value, results: Sequence[Value]) -> str:
    """The results that have as many bytes as an argument, on each device, in words."""
    fitting = [result for result in results if same_size(argument, result)]
    size = f"{argument.held} bytes" + " on each device" * (argument.shard_bytes is not None)
    if not fitting:
        return f"no result has {size}"
    shown = ", ".join(str(result).removeprefix("result ") for result in fitting[:8])
    more = f" and {len(fitting) - 8} more" if len(fitting) > 8 else ""
    return f"results of {size}: {shown}{more}"


def _one_result_for_many(
    entry: DonateEntry, values: Sequence[Value], asked_at: Where
) -> Diagnostic:
    selector = str(entry.arg)
    what = "pattern" if is_pattern(selector) else "range"
    message = f"{what} {quoted(selector)} means {len(values)} arguments, but one result is named"
    hint = "leave out 'result' to have them paired, or write an entry for each"
    return Diagnostic("result-for-many", message, asked_at, help=hint)
