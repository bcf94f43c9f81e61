"""From a manifest and a program's signature to the donations to write. No MLIR.

Explicit donations come first, then what the frontend wrote and nobody contradicts, then
results for those that named none. Every mistake is found before any is reported.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from hlopass import manifest as manifests
from hlopass.diagnostics import Diagnostic, HlopassError, Where
from hlopass.donation import Donation, unfit
from hlopass.manifest import DonateEntry, Manifest
from hlopass.values import Value, is_pattern, select

Pairing = Callable[[Sequence[Value], Sequence[Value]], dict[int, int]]


@dataclass
class Plan:
    """The donations to write, in order of arguments, and the arguments to clear."""

    donations: list[Donation] = field(default_factory=list)
    cleared: list[Value] = field(default_factory=list)
    diagnostics: list[Diagnostic] = field(default_factory=list)


@dataclass(frozen=True)
class Request:
    """What one entry of a manifest asks of one argument."""

    argument: Value
    entry: DonateEntry
    exact: bool
    asked_at: Where
    result: Value | None = None


class Planner:
    """Plans the donations of one program; see `plan`."""

    def __init__(
        self,
        arguments: Sequence[Value],
        results: Sequence[Value],
        manifest: Manifest,
        label: str,
    ) -> None:
        self.arguments = arguments
        self.results = results
        self.manifest = manifest
        self.label = label
        self.plan = Plan()

    def run(self, existing: Sequence[Donation], pairing: Pairing) -> Plan:
        """The plan; its diagnostics hold every mistake."""
        kept = self._kept()
        requests = self._requests(kept)
        explicit = self._explicit(requests)
        frontend = self._frontend(existing, explicit, kept)
        donations = {donation.argument.index: donation for donation in explicit + frontend}
        self._pair_the_rest(donations, pairing)
        self.plan.donations = [donations[index] for index in sorted(donations)]
        self.plan.cleared += kept.values()
        if self.manifest.automatic == "off":
            self.plan.cleared += self.arguments
        return self.plan

    def _kept(self) -> dict[int, Value]:
        kept: dict[int, Value] = {}
        for number, selector in enumerate(self.manifest.keep):
            asked_at = manifests.pointer(self.label, "keep", number)
            try:
                found = select(selector, self.arguments, "argument", asked_at).values
            except HlopassError as error:
                self.plan.diagnostics += error.diagnostics
                continue
            kept.update((value.index, value) for value in found)
        return kept

    def _requests(self, kept: dict[int, Value]) -> dict[int, Request]:
        """One request for each argument: exact ones beat those of patterns."""
        requests: dict[int, Request] = {}
        for number, entry in enumerate(self.manifest.entries()):
            asked_at = manifests.pointer(self.label, "donate", number)
            for request in self._entry_requests(entry, asked_at):
                if request.argument.index in kept:
                    if request.exact:
                        self._add(_kept_anyway(request))
                elif self._donatable(request):
                    self._unite(requests, request)
        return requests

    def _entry_requests(self, entry: DonateEntry, asked_at: Where) -> list[Request]:
        result = None
        found: list[Request] = []
        try:
            if entry.result is not None:
                result = self._one_result(entry.result, asked_at)
        except HlopassError as error:
            self.plan.diagnostics += error.diagnostics
        try:
            selection = select(entry.arg, self.arguments, "argument", asked_at)
        except HlopassError as error:
            if not (entry.optional and error.diagnostics[0].code == "argument-unknown"):
                self.plan.diagnostics += error.diagnostics
            return found
        if entry.result is not None and len(selection.values) > 1:
            self._add(_one_result_for_many(entry, selection.values, asked_at))
            return found
        if entry.result is not None and result is None:
            return found
        exact = selection.exact
        return [Request(value, entry, exact, asked_at, result) for value in selection.values]

    def _one_result(self, selector: int | str, asked_at: Where) -> Value:
        found = select(selector, self.results, "result", asked_at).values
        if len(found) > 1:
            shown = ", ".join(str(value.index) for value in found)
            message = f"{selector!r} means {len(found)} results: {shown}"
            hint = "an argument's buffer can serve one result"
            raise HlopassError(Diagnostic("result-for-many", message, asked_at, help=hint))
        return found[0]

    def _donatable(self, request: Request) -> bool:
        """Whether the argument has a buffer to donate; says so where it has none."""
        argument = request.argument
        if argument.internal is not None and not request.exact:
            return False
        reason = argument.obstacle or (argument.internal and f"it is {argument.internal}")
        if reason is None:
            return True
        empty = argument.bytes == 0
        finding = Diagnostic(
            "donate-empty" if empty else "donate-impossible",
            f"cannot donate {argument}: {reason}",
            argument.where,
            notes=(_type_note(argument), _asked_note(request)),
            help=None if empty else "leave it out, or list it under 'keep'",
        )
        self._add(finding.as_warning() if empty or request.entry.optional else finding)
        return False

    def _unite(self, requests: dict[int, Request], new: Request) -> None:
        """Counts an argument once; two exact requests must agree."""
        old = requests.get(new.argument.index)
        if old is None or (new.exact and not old.exact):
            requests[new.argument.index] = new
        elif new.exact and (new.entry.kind, new.result) != (old.entry.kind, old.result):
            message = f"{new.argument} is asked for twice, in two ways"
            notes = (_asked_note(old), _asked_note(new))
            self._add(Diagnostic("donate-twice", message, new.argument.where, notes=notes))

    def _explicit(self, requests: dict[int, Request]) -> list[Donation]:
        taken: dict[int, Request] = {}
        donations = []
        for index in sorted(requests):
            request = requests[index]
            if request.result is not None:
                finding = self._bad_pair(request, taken)
                if finding is not None:
                    optional = request.entry.optional
                    self._add(finding.as_warning() if optional else finding)
                    continue
                taken[request.result.index] = request
            entry = request.entry
            donations.append(
                Donation(
                    request.argument,
                    request.result,
                    entry.kind,
                    "explicit",
                    entry.optional,
                    request.asked_at,
                )
            )
        return donations

    def _bad_pair(self, request: Request, taken: dict[int, Request]) -> Diagnostic | None:
        """What stands against an explicit pair, if anything."""
        argument, result = request.argument, request.result
        assert result is not None
        to = f"cannot donate {argument} to {result}"
        asked = _asked_note(request)
        if result.index in taken:
            other = taken[result.index]
            message = f"{to}: {other.argument} takes it already"
            return Diagnostic(
                "donate-result-taken", message, argument.where, notes=(_asked_note(other), asked)
            )
        reason = unfit(argument, result)
        if reason is None:
            return None
        hint = None
        if reason.code == "donate-size-mismatch":
            hint = self._results_of_size(argument)
        message = f"{to}: {reason.reason}"
        return Diagnostic(
            reason.code, message, argument.where, notes=(reason.note, asked), help=hint
        )

    def _results_of_size(self, argument: Value) -> str:
        fitting = [r for r in self.results if r.bytes == argument.bytes and not r.obstacle]
        if not fitting:
            return f"no result has {argument.bytes} bytes"
        shown = ", ".join(str(result).removeprefix("result ") for result in fitting[:8])
        more = f" and {len(fitting) - 8} more" if len(fitting) > 8 else ""
        return f"results of {argument.bytes} bytes: {shown}{more}"

    def _frontend(
        self, existing: Sequence[Donation], explicit: list[Donation], kept: dict[int, Value]
    ) -> list[Donation]:
        """What the program carries and nobody contradicts."""
        if self.manifest.automatic == "off":
            return []
        named = {donation.argument.index for donation in explicit} | kept.keys()
        taken = {d.result.index: d for d in explicit if d.result is not None}
        donations = []
        for donation in existing:
            if donation.argument.index in named:
                continue
            winner = taken.get(donation.result.index) if donation.result is not None else None
            if winner is None:
                donations.append(donation)
            else:
                self.plan.cleared.append(donation.argument)
                self._add(_lost_to_explicit(donation, winner))
        return donations

    def _pair_the_rest(self, donations: dict[int, Donation], pairing: Pairing) -> None:
        """Finds results for explicit aliases that name none."""
        taken = {d.result.index for d in donations.values() if d.result is not None}
        free = [result for result in self.results if result.index not in taken]
        waiting = [d for d in donations.values() if d.kind == "alias" and d.result is None]
        pairs = pairing([d.argument for d in waiting], free)
        for donation in waiting:
            index = donation.argument.index
            if index in pairs:
                donations[index] = replace(donation, result=self.results[pairs[index]])
                continue
            del donations[index]
            finding = self._no_result(donation, [*pairs.values(), *taken])
            self._add(finding.as_warning() if donation.optional else finding)

    def _no_result(self, donation: Donation, taken: Sequence[int]) -> Diagnostic:
        argument = donation.argument
        fitting = [r for r in self.results if r.bytes == argument.bytes and not r.obstacle]
        if not fitting:
            code = "donate-no-result"
            reason = f"no result of that size: it is {argument.described()}"
            hint = f"result sizes: {self._result_sizes()}"
        elif all(result.index in taken for result in fitting):
            code = "donate-results-taken"
            reason = f"other arguments take all results of {argument.bytes} bytes"
            hint = self._results_of_size(argument)
        else:
            code = "donate-memory-kind"
            reason = f"no result of that size is in memory kind {argument.memory_kind!r}"
            hint = self._results_of_size(argument)
        hint += "; mark it optional, or list it under 'keep'"
        notes = () if donation.asked_at is None else (f"asked for by {donation.asked_at}",)
        message = f"cannot donate {argument}: {reason}"
        return Diagnostic(code, message, argument.where, notes=notes, help=hint)

    def _result_sizes(self) -> str:
        sizes = sorted({r.bytes for r in self.results if r.bytes is not None}, reverse=True)
        shown = ", ".join(str(size) for size in sizes[:8])
        return (shown + (", ..." if len(sizes) > 8 else "") + " bytes") if sizes else "none known"

    def _add(self, diagnostic: Diagnostic) -> None:
        self.plan.diagnostics.append(diagnostic)


def _asked_note(request: Request) -> str:
    return f"asked for by {request.asked_at}"


def _type_note(value: Value) -> str:
    return f"{value.role} is {value.described()}"


def _kept_anyway(request: Request) -> Diagnostic:
    message = f"{request.argument} is listed under 'donate' and under 'keep': it is kept"
    return Diagnostic("donate-kept", message, request.asked_at, "warning")


def _one_result_for_many(
    entry: DonateEntry, values: Sequence[Value], asked_at: Where
) -> Diagnostic:
    what = "pattern" if isinstance(entry.arg, str) and is_pattern(entry.arg) else "selector"
    message = f"{what} {entry.arg!r} means {len(values)} arguments, but one result is named"
    hint = "leave out 'result' to have them paired, or write an entry for each"
    return Diagnostic("result-for-many", message, asked_at, help=hint)


def _lost_to_explicit(donation: Donation, winner: Donation) -> Diagnostic:
    message = f"{donation.argument} loses {donation.result}, which {winner.argument} takes"
    notes = () if winner.asked_at is None else (f"asked for by {winner.asked_at}",)
    return Diagnostic(
        "frontend-alias-lost", message, donation.argument.where, "warning", notes=notes
    )
