"""Runs compiled programs on their devices, and looks at what became of the inputs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from hlopass.donation import Donation
from hlopass.proof import shards
from hlopass.proof.client import fetch, run_sharded
from hlopass.proof.difference import Array, first_difference
from hlopass.proof.evidence import Compiled
from hlopass.proof.executable import Executable
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
    results: Sequence[Value],
    plain: Executable,
    donated: Executable,
    donations: Sequence[Donation],
    placed: Placed,
    stage: Stage,
) -> Runs:
    """Runs without and with donation, on the same inputs; where they differ, once more without."""
    stage("running without donation")
    expected = run(plain, results, placed)
    stage("running with donation")
    observed, actual = _run_donated(donated, results, donations, placed)
    difference = first_difference(results, expected, actual)
    repeatable = None
    if difference is not None:
        stage("running without donation again")
        again = run(plain, results, placed)
        repeatable = first_difference(results, expected, again) is None
    return Runs(observed, difference, repeatable, expected, placed.ledger.counts)


def run(executable: Executable, results: Sequence[Value], placed: Placed) -> list[Array]:
    """The results of a program, whole. Raises HlopassError where it cannot be run."""
    found = run_sharded(executable.loaded, placed.on(executable), placed.label)
    return _whole(executable, results, found, placed.label)


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


def _run_donated(
    executable: Executable,
    results: Sequence[Value],
    donations: Sequence[Donation],
    placed: Placed,
) -> tuple[list[Observed], list[Array]]:
    """Runs with donation; for each one, whether it was deleted and where its result lies."""
    buffers = placed.on(executable)
    before = {each.argument.index: _addresses(buffers[each.argument.index]) for each in donations}
    made = run_sharded(executable.loaded, buffers, placed.label)
    found = []
    for each in donations:
        index = each.argument.index
        tied = executable.facts.aliases.get(index)
        same = None
        if tied is not None and each.argument.bytes:
            pairs = zip(before[index], made[tied], strict=True)
            same = tuple(address == _address(shard) for address, shard in pairs)
        deleted = bool(buffers[index].is_deleted())
        found.append(observed(each, executable.facts, deleted=deleted, same_buffer=same))
    return found, _whole(executable, results, made, placed.label)


def _whole(
    executable: Executable, results: Sequence[Value], made: Sequence[Sequence[Any]], label: str
) -> list[Array]:
    """Results put together from what each device holds."""
    found = []
    for value, held, tiles in zip(results, made, executable.results, strict=True):
        pieces = fetch(held, label)
        shape = value.shape if value.shape is not None else pieces[0].shape
        found.append(shards.join(pieces, tiles, shape))
    return found


def _addresses(array: Any) -> list[int]:
    return [_address(shard.data) for shard in array.addressable_shards]


def _address(array: Any) -> int:
    return int(array.unsafe_buffer_pointer())
