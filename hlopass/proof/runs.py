"""Runs compiled programs on their devices, and looks at what became of the inputs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from hlopass.donation import Donation
from hlopass.proof import shards
from hlopass.proof.client import fetch, run_sharded
from hlopass.proof.difference import Array, first_difference
from hlopass.proof.evidence import Compiled
from hlopass.proof.executable import Executable
from hlopass.proof.holding import addresses, entering_once, holder
from hlopass.proof.observation import Difference, Observed
from hlopass.proof.placing import Placed
from hlopass.report import Argument, Evidence, Result, Transfers
from hlopass.values import Value

Stage = Callable[[str], None]


@dataclass(frozen=True)
class Runs:
    """What running showed: each donation with its facts, and where the results differ.

    `results` are those without donation, put together from all devices; `transfers` is what
    went to them.
    """

    observed: list[Observed]
    difference: Difference | None = None
    repeatable: bool | None = None
    results: Sequence[Array] = ()
    transfers: Transfers | None = None


def run_both(
    arguments: Sequence[Value],
    results: Sequence[Value],
    plain: Executable,
    donated: Executable,
    donations: Sequence[Donation],
    placed: Placed,
    stage: Stage,
    times: int = 1,
) -> Runs:
    """Runs without donation, and with it as often as is asked, on the same inputs.

    Where results differ it runs once more without.
    """
    stage("running without donation")
    expected = run(plain, results, placed)
    found: list[Observed] = []
    difference, repeatable = None, None
    for number in range(1, times + 1):
        stage("running with donation" + f", {number} of {times}" * (times > 1))
        seen, made = run_donated(donated, arguments, donations, placed.on(donated), placed.label)
        found = [_both(*pair, number) for pair in zip(found or seen, seen, strict=True)]
        actual = whole(donated, results, made, placed.label)
        difference = difference or first_difference(results, expected, actual, number)
    if difference is not None:
        stage("running without donation again")
        again = run(plain, results, placed)
        repeatable = first_difference(results, expected, again) is None
    return Runs(found, difference, repeatable, expected, placed.ledger.counts)


def _both(before: Observed, now: Observed, run: int) -> Observed:
    """What several runs show of one donation: what held in all, and which was the first to fail."""
    first, second = before.evidence, now.evidence
    same = second.same_buffer
    if same is not None and first.same_buffer is not None:
        same = tuple(a and b for a, b in zip(first.same_buffer, same, strict=True))
    good = second.deleted and (second.same_buffer is None or all(second.same_buffer))
    evidence = msgspec.structs.replace(
        second,
        deleted=bool(first.deleted and second.deleted),
        same_buffer=same,
        held_by=first.held_by or second.held_by,
        failed_run=first.failed_run or (None if good else run),
    )
    return msgspec.structs.replace(now, evidence=evidence)


def run(executable: Executable, results: Sequence[Value], placed: Placed) -> list[Array]:
    """The results of a program, whole. Raises HlopassError where it cannot be run."""
    found = run_sharded(executable.loaded, placed.on(executable), placed.label)
    return whole(executable, results, found, placed.label)


def observed(donation: Donation, compiled: Compiled, **facts: Any) -> Observed:
    """A donation with what the alias table says of it, and what a run showed."""
    argument, result = donation.argument, donation.result
    tied = compiled.aliases.get(argument.index)
    aliased = tied is not None and (result is None or result.index == tied)
    return Observed(
        Argument(argument.index, argument.name, argument.type, argument.bytes),
        None if result is None else Result(result.index, result.name),
        donation.kind,
        tied,
        Evidence(aliased=aliased, **facts),
    )


def run_donated(
    executable: Executable,
    program: Sequence[Value],
    donations: Sequence[Donation],
    buffers: Sequence[Any],
    label: str,
) -> tuple[list[Observed], list[list[Any]]]:
    """Runs with donation, on buffers that may be gone after that.

    `program`: its arguments. Returns for each donation whether it was deleted and where its
    result lies, and of each result what each device holds. Raises HlopassError where two
    arguments share a buffer, or the run fails.
    """
    given = {each.argument.index for each in donations}
    entering_once(program, buffers, given, label)
    before = {index: addresses(buffers[index]) for index in given}
    made = run_sharded(executable.loaded, list(buffers), label)
    found = []
    for each in donations:
        index = each.argument.index
        tied = executable.facts.aliases.get(index)
        deleted, same, held = bool(buffers[index].is_deleted()), None, None
        if tied is not None and each.argument.bytes:
            same = _same(before[index], made[tied])
            held = None if deleted else holder(before[index])
        facts = {"deleted": deleted, "same_buffer": same, "held_by": held}
        found.append(observed(each, executable.facts, **facts))
    return found, made


def _same(before: Sequence[int] | None, made: Sequence[Any]) -> tuple[bool, ...] | None:
    """For each device, whether a result lies where an argument lay; None where it is not told."""
    if before is None:
        return None
    after = [addresses(shard) for shard in made]
    return tuple(lies == (place,) for place, lies in zip(before, after, strict=True))


def whole(
    executable: Executable, results: Sequence[Value], made: Sequence[Sequence[Any]], label: str
) -> list[Array]:
    """Results put together from what each device holds."""
    found = []
    for value, held, tiles in zip(results, made, executable.results, strict=True):
        pieces = fetch(held, label)
        shape = value.shape if value.shape is not None else pieces[0].shape
        found.append(shards.join(pieces, tiles, shape))
    return found
