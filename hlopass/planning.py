"""From what is asked and what a program carries to the donations to write. No MLIR.

Explicit donations come first, then what the program carries and nobody contradicts, then
what names or data flow add; at last, results for those that name none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from msgspec import structs

from hlopass import names
from hlopass.diagnostics import Diagnostic, quoted
from hlopass.donation import Donation, Origin
from hlopass.manifest import Automatic
from hlopass.pairing import FlowPairing, Pairing, Pairs, in_place_updates, pair_in_order
from hlopass.requests import Asked, results_of_size
from hlopass.reuse import Conflict, Reuse
from hlopass.values import Value, same_size

COSTS_A_COPY = "donation-costs-copy"


@dataclass
class Plan:
    """The donations to write, in order of arguments, and the arguments to clear.

    `costs`: for each alias that costs a copy, by argument, why. `left`: optional donations
    that are left alone for that reason.
    """

    donations: list[Donation] = field(default_factory=list)
    cleared: list[Value] = field(default_factory=list)
    diagnostics: list[Diagnostic] = field(default_factory=list)
    costs: dict[int, Conflict] = field(default_factory=dict)
    left: dict[int, Conflict] = field(default_factory=dict)


class Planner:
    """Plans the donations of one program.

    `reuse` makes the data flow analysis when it is first needed; None pairs in JAX's order.
    """

    def __init__(
        self,
        arguments: Sequence[Value],
        results: Sequence[Value],
        automatic: Automatic,
        reuse: Callable[[], Reuse] | None,
    ) -> None:
        self.arguments = arguments
        self.results = results
        self.automatic = automatic
        self.reuse = reuse
        self.plan = Plan()
        self.donations: dict[int, Donation] = {}
        self.skipped: list[tuple[Donation, Diagnostic]] = []

    def run(self, asked: Asked, existing: Sequence[Donation]) -> Plan:
        """The plan; its diagnostics hold every mistake, those of `asked` too."""
        self.plan.diagnostics += asked.diagnostics
        self.donations.update(asked.donations)
        self.plan.cleared += asked.kept.values()
        self._carried([d for d in existing if d.argument.index not in asked.kept])
        self._add_automatic(asked)
        self._pair_the_rest()
        self.plan.diagnostics += _summed_up(self.skipped)
        self.plan.donations = [self.donations[index] for index in sorted(self.donations)]
        self._weigh()
        return self.plan

    def _carried(self, existing: Iterable[Donation]) -> None:
        """What the program carries: kept, kept to be paired anew, or cleared."""
        for donation in existing:
            index = donation.argument.index
            winner = self._taken().get(donation.result.index) if donation.result else None
            if index in self.donations:
                continue
            if self.automatic == "off":
                self.plan.cleared.append(donation.argument)
            elif self.automatic == "repair":
                self.donations[index] = structs.replace(donation, kind="alias", result=None)
            elif winner is None or winner.origin == "frontend":
                self.donations[index] = donation
            else:
                self.plan.cleared.append(donation.argument)
                self._warn_lost(donation, winner)
        self.donors = {d.argument.index for d in existing if d.kind == "donor"}

    def _taken(self) -> dict[int, Donation]:
        return {d.result.index: d for d in self.donations.values() if d.result is not None}

    def _add_automatic(self, asked: Asked) -> None:
        """Pairs that names or data flow show, of what nobody else claims."""
        if self.automatic not in ("names", "dataflow"):
            return
        arguments = [
            argument
            for argument in self.arguments
            if argument.index not in self.donations
            and argument.index not in asked.kept
            and argument.obstacle is None
            and argument.internal is None
        ]
        results = self._free_results()
        origin: Origin = "names"
        if self.automatic == "names":
            found = names.next_values(arguments, results)
        else:
            origin = "dataflow"
            found = in_place_updates(self._reuse(), arguments, results)
        for index, result in found.items():
            argument = self.arguments[index]
            self.donations[index] = Donation(argument, self.results[result], "alias", origin)

    def _free_results(self) -> list[Value]:
        taken = self._taken()
        return [r for r in self.results if r.index not in taken and r.obstacle is None]

    def _reuse(self) -> Reuse:
        assert self.reuse is not None
        return self.reuse()

    def _pair_the_rest(self) -> None:
        """Finds results for aliases that name none."""
        waiting = [d for d in self.donations.values() if d.kind == "alias" and d.result is None]
        if not waiting:
            return
        pairing: Pairing = pair_in_order if self.reuse is None else FlowPairing(self._reuse())
        optional = {donation.argument.index for donation in waiting if donation.optional}
        pairs = pairing([d.argument for d in waiting], self._free_results(), optional)
        for donation in sorted(waiting, key=lambda d: d.argument.index):
            self._settle(donation, pairs)

    def _settle(self, donation: Donation, pairs: Pairs) -> None:
        index = donation.argument.index
        if index in pairs.results:
            result = self.results[pairs.results[index]]
            self.donations[index] = structs.replace(donation, result=result, chosen=True)
            return
        del self.donations[index]
        if index in pairs.left:
            self.plan.left[index] = pairs.left[index]
            self.skipped.append((donation, _left_alone(donation, pairs.left[index])))
        elif donation.origin == "frontend" and index in self.donors:
            self.donations[index] = structs.replace(donation, kind="donor")
        else:
            taken = [*pairs.results.values(), *self._taken()]
            finding = self._no_result(donation, taken)
            if donation.origin == "explicit" and not donation.optional:
                self.plan.diagnostics.append(finding)
            else:
                self.skipped.append((donation, finding.as_warning()))
            self.plan.cleared.append(donation.argument)

    def _weigh(self) -> None:
        """Notes which aliases cost a copy."""
        if self.reuse is None:
            return
        for donation in self.plan.donations:
            if donation.result is not None:
                argument = donation.argument.index
                conflict = self._reuse().conflict(argument, donation.result.index)
                if conflict is not None:
                    self.plan.costs[argument] = conflict

    def _no_result(self, donation: Donation, taken: Sequence[int]) -> Diagnostic:
        argument = donation.argument
        alike = [
            result
            for result in self.results
            if same_size(argument, result) and (not result.open or result.shape == argument.shape)
        ]
        fitting = [result for result in alike if result.memory_kind == argument.memory_kind]
        if argument.uneven:
            code = "donate-uneven"
            reason = "the mesh axes do not divide it"
            hint = "its blocks differ in size"
        elif alike and not fitting:
            code = "donate-memory-kind"
            kind = argument.memory_kind
            reason = f"no result of that size is in {quoted(kind) if kind else 'default'} memory"
            hint = results_of_size(argument, self.results)
        elif not fitting:
            code = "donate-no-result"
            reason = f"no result of that size: it is {argument.described()}"
            hint = f"result sizes: {self._result_sizes()}"
            if any(result.open for result in self.results):
                hint += "; one that is left open counts for arguments of its own shape only"
        elif all(result.index in taken for result in fitting):
            code = "donate-results-taken"
            reason = f"other arguments take all results of {argument.held} bytes"
            hint = results_of_size(argument, self.results)
        else:
            code = "donate-no-pair"
            reason = f"arguments and results of {argument.held} bytes cannot be paired one to one"
            hint = results_of_size(argument, self.results)
        hint += "; mark it optional, or list it under 'keep'"
        notes = () if donation.asked_at is None else (f"asked for by {donation.asked_at}",)
        message = f"cannot donate {argument}: {reason}"
        return Diagnostic(code, message, argument.where, notes=notes, help=hint)

    def _result_sizes(self) -> str:
        sizes = sorted({r.held for r in self.results if r.held is not None}, reverse=True)
        shown = ", ".join(str(size) for size in sizes[:8])
        return (shown + (", ..." if len(sizes) > 8 else "") + " bytes") if sizes else "none known"

    def _warn_lost(self, donation: Donation, winner: Donation) -> None:
        message = f"{donation.argument} loses {donation.result}, which {winner.argument} takes"
        notes = () if winner.asked_at is None else (f"asked for by {winner.asked_at}",)
        where = donation.argument.where
        finding = Diagnostic("frontend-alias-lost", message, where, "warning", notes=notes)
        self.plan.diagnostics.append(finding)


def _left_alone(donation: Donation, conflict: Conflict) -> Diagnostic:
    argument = donation.argument
    message = f"{argument} is left alone: donating it costs a copy, as {conflict}"
    notes = () if donation.asked_at is None else (f"asked for by {donation.asked_at}, optional",)
    return Diagnostic("donation-left-alone", message, argument.where, "warning", notes=notes)


def _summed_up(skipped: list[tuple[Donation, Diagnostic]], most: int = 3) -> list[Diagnostic]:
    """The warnings about donations that were not made: one for all that one entry asked for."""
    groups: dict[str, list[tuple[Donation, Diagnostic]]] = {}
    for donation, finding in skipped:
        groups.setdefault(str(donation.asked_at), []).append((donation, finding))
    found = []
    for group in groups.values():
        donation, finding = group[0]
        if len(group) <= most:
            found += [each for _, each in group]
            continue
        notes = [each.message for _, each in group[:most]]
        notes.append(f"and {len(group) - most} more; hlopass inspect says of each why")
        message = f"{len(group)} donations are not made, which nothing requires"
        where = donation.asked_at or finding.where
        found.append(
            Diagnostic("donations-left-out", message, where, "warning", notes=tuple(notes))
        )
    return found


def costs_a_copy(
    donations: Sequence[Donation], costs: Mapping[int, Conflict], most: int = 3
) -> Diagnostic | None:
    """One warning for all aliases made now that cost a copy, the first few with reasons."""
    costly = [
        donation
        for donation in donations
        if (donation.origin != "frontend" or donation.chosen) and donation.argument.index in costs
    ]
    if not costly:
        return None
    notes = [f"{d.argument}: {costs[d.argument.index]}" for d in costly[:most]]
    if len(costly) > most:
        notes.append(f"and {len(costly) - most} more; hlopass inspect lists them")
    message = f"{len(costly)} donations cost a copy each and may save nothing"
    if len(costly) == 1:
        message = "1 donation costs a copy and may save nothing"
    where = costly[0].argument.where
    return Diagnostic(COSTS_A_COPY, message, where, "warning", notes=tuple(notes))
