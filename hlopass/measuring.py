"""Pairing that is measured: the candidates that analysis cannot separate are compiled.

The analysis counts copies; what a copy costs in temporary memory, and whether XLA finds a
way around it, the compiler tells. Nothing that is required is given up: only donations
that nobody asked for by name, or that are optional, may be left alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from msgspec import structs

from hlopass import donation_attrs, formats
from hlopass.dataflow import analyse
from hlopass.diagnostics import Diagnostic
from hlopass.donation import Donation
from hlopass.pairing import FlowPairing, pair_in_order
from hlopass.passes import PassContext
from hlopass.planning import COSTS_A_COPY, costs_a_copy
from hlopass.proof import run
from hlopass.proof.observation import DONOR, Figures, Job
from hlopass.report import Candidate
from hlopass.reuse import Reuse
from hlopass.values import Value

Measure = Callable[[Sequence[dict[int, int]]], Sequence[Figures]]

_MOST_ALTERNATIVES = 8


@dataclass(frozen=True)
class Measured:
    """The donations that were chosen, those left alone, and the figures of all candidates."""

    donations: tuple[Donation, ...]
    left: tuple[Donation, ...]
    candidates: tuple[Candidate, ...]


def apply(
    context: PassContext, timeout: float | None, progress: Callable[[str], None] | None
) -> tuple[bool, tuple[Candidate, ...]]:
    """Measures a program's donations and writes the best; whether it changed, and the figures."""
    program = context.program
    if not any(each.result is not None for each in context.donations):
        return False, ()
    data = formats.write(program, "bytecode")

    def measure(candidates: Sequence[dict[int, int]]) -> Sequence[Figures]:
        job = Job(program.source.label, program.entry_name, candidates=tuple(candidates))
        return run.measure(data, job, timeout, progress)

    reuse = analyse(program)
    found = choose(context.donations, program.results, reuse, measure)
    context.donations[:] = found.donations
    context.costs.clear()
    for each in found.donations:
        if each.result is not None:
            conflict = reuse.conflict(each.argument.index, each.result.index)
            if conflict is not None:
                context.costs[each.argument.index] = conflict
    warned = [each for each in context.diagnostics if each.code != COSTS_A_COPY]
    costly = costs_a_copy(found.donations, context.costs)
    warned += [costly] if costly is not None else []
    context.diagnostics[:] = [*warned, *(_left_alone(each) for each in found.left)]
    cleared = [each.argument for each in found.left]
    return donation_attrs.write(program, found.donations, cleared), found.candidates


def _left_alone(donation: Donation) -> Diagnostic:
    argument = donation.argument
    message = f"{argument} is left alone: measured, donating it adds copies and saves nothing"
    return Diagnostic("donation-left-alone", message, argument.where, "warning")


def choose(
    donations: Sequence[Donation], results: Sequence[Value], reuse: Reuse, measure: Measure
) -> Measured:
    """The candidate with the fewest copies, then the least temp, at no larger footprint."""
    base = {d.argument.index: DONOR if d.result is None else d.result.index for d in donations}
    candidates = {"data flow": base, **_others(donations, results, reuse)}
    droppable = _droppable(donations, reuse)
    for index in droppable:
        candidates[f"without argument {index}"] = _without(base, [index])
    figures = dict(zip(candidates, measure(list(candidates.values())), strict=True))
    first = figures["data flow"]
    useless = [
        index for index in droppable if _saves_nothing(figures[f"without argument {index}"], first)
    ]
    if len(useless) > 1:
        together = _without(base, useless)
        candidates["without all of those that save nothing"] = together
        figures["without all of those that save nothing"] = measure([together])[0]
    chosen = min(
        (name for name in candidates if figures[name].footprint <= first.footprint),
        key=lambda name: (figures[name].copies, figures[name].temp_bytes, -len(candidates[name])),
    )
    return _outcome(donations, results, candidates, figures, chosen)


def _saves_nothing(without: Figures, with_: Figures) -> bool:
    return without.copies < with_.copies and without.footprint <= with_.footprint


def _without(base: dict[int, int], indices: Sequence[int]) -> dict[int, int]:
    return {argument: result for argument, result in base.items() if argument not in indices}


def _droppable(donations: Sequence[Donation], reuse: Reuse) -> list[int]:
    """Arguments that cost a copy and that nobody requires."""
    return [
        each.argument.index
        for each in donations
        if each.result is not None
        and (each.optional or each.origin != "explicit")
        and reuse.conflict(each.argument.index, each.result.index) is not None
    ]


def _others(
    donations: Sequence[Donation], results: Sequence[Value], reuse: Reuse
) -> dict[str, dict[int, int]]:
    """Other full assignments: JAX's, and those of the same predicted cost."""
    movable = [d for d in donations if d.result is not None and d.chosen]
    fixed = {d.argument.index: DONOR if d.result is None else d.result.index for d in donations}
    for each in movable:
        del fixed[each.argument.index]
    arguments = [each.argument for each in movable]
    taken = set(fixed.values())
    free = [result for result in results if result.index not in taken]
    found: dict[str, dict[int, int]] = {}
    in_order = pair_in_order(arguments, free).results
    if len(in_order) == len(arguments):
        found["JAX's order"] = fixed | in_order
    current = {d.argument.index: d.result.index for d in movable if d.result is not None}
    for argument, result in list(current.items()):
        if len(found) > _MOST_ALTERNATIVES or reuse.conflict(argument, result) is None:
            continue
        pairing = FlowPairing(reuse, forbidden={(argument, result)})
        other = pairing(arguments, free).results
        if len(other) == len(current) and _predicted(reuse, other) == _predicted(reuse, current):
            found[f"argument {argument} to result {other[argument]}"] = fixed | other
    same = [name for name, pairs in found.items() if pairs == fixed | current]
    return {name: pairs for name, pairs in found.items() if name not in same}


def _predicted(reuse: Reuse, pairs: dict[int, int]) -> int:
    return sum(reuse.conflict(argument, result) is not None for argument, result in pairs.items())


def _outcome(
    donations: Sequence[Donation],
    results: Sequence[Value],
    candidates: dict[str, dict[int, int]],
    figures: dict[str, Figures],
    chosen: str,
) -> Measured:
    pairs = candidates[chosen]
    kept = tuple(
        structs.replace(each, result=results[pairs[each.argument.index]]) if each.result else each
        for each in donations
        if each.argument.index in pairs
    )
    left = tuple(each for each in donations if each.argument.index not in pairs)
    table = tuple(
        Candidate(name, f.copies, f.temp_bytes, f.footprint, len(candidates[name]), name == chosen)
        for name, f in figures.items()
    )
    return Measured(kept, left, table)
