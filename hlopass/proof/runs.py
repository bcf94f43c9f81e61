"""Runs compiled programs on their devices, and looks at what became of the inputs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from hlopass.donation import Donation
from hlopass.gspmd import ParsedTiles
from hlopass.proof import inputs, shards
from hlopass.proof.client import fetch, parameter_layouts, refused, run_sharded
from hlopass.proof.difference import Array, first_difference
from hlopass.proof.evidence import Compiled
from hlopass.proof.observation import Difference, Observed
from hlopass.report import Argument, Evidence, Result
from hlopass.values import Value

Stage = Callable[[str], None]


@dataclass(frozen=True)
class Executable:
    """A loaded executable, what it tells of itself, and where its blocks lie on its devices."""

    loaded: Any
    facts: Compiled
    devices: int
    arguments: Sequence[ParsedTiles]
    results: Sequence[ParsedTiles]


@dataclass(frozen=True)
class Runs:
    """What running showed: each donation with its facts, and where the results differ.

    `results` are those without donation, put together from all devices.
    """

    observed: list[Observed]
    difference: Difference | None = None
    repeatable: bool | None = None
    results: Sequence[Array] = ()


def run_both(
    results: Sequence[Value],
    plain: Executable,
    donated: Executable,
    donations: Sequence[Donation],
    arrays: Sequence[Array],
    label: str,
    stage: Stage,
) -> Runs:
    """Runs without and with donation; where they differ, once more without."""
    stage("running without donation")
    expected = run(plain, results, arrays, label)
    stage("running with donation")
    observed, actual = _run_donated(donated, results, donations, arrays, label)
    difference = first_difference(results, expected, actual)
    repeatable = None
    if difference is not None:
        stage("running without donation again")
        again = run(plain, results, arrays, label)
        repeatable = first_difference(results, expected, again) is None
    return Runs(observed, difference, repeatable, expected)


def run(
    executable: Executable, results: Sequence[Value], arrays: Sequence[Array], label: str
) -> list[Array]:
    """The results of a program, whole. Raises HlopassError where it cannot be run."""
    found = run_sharded(executable.loaded, _placed(arrays, executable, label), label)
    return _whole(executable, results, found, label)


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
    arrays: Sequence[Array],
    label: str,
) -> tuple[list[Observed], list[Array]]:
    """Runs with donation; for each one, whether it was deleted and where its result lies."""
    buffers = _placed(arrays, executable, label)
    before = {each.argument.index: _addresses(buffers[each.argument.index]) for each in donations}
    made = run_sharded(executable.loaded, buffers, label)
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
    return found, _whole(executable, results, made, label)


def _placed(arrays: Sequence[Array], executable: Executable, label: str) -> list[Any]:
    blocks = [
        shards.split(array, tiles, executable.devices)
        for array, tiles in zip(arrays, executable.arguments, strict=True)
    ]
    needed = sum(block.nbytes for each in blocks for block in each)
    what = f"the arguments on {executable.devices} devices" if executable.devices > 1 else "they"
    inputs.check_memory(needed, what, label)
    with refused("place the inputs of", label):
        devices = executable.loaded.client.local_devices()
        return inputs.place_shards(blocks, devices, parameter_layouts(executable.loaded))


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
