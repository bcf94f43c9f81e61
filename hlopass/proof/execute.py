"""Runs a program with and without its donations, and gathers the evidence."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from hlopass import donation_attrs, fingerprint, formats
from hlopass.dataflow import analyse
from hlopass.diagnostics import HlopassError
from hlopass.donation import Donation
from hlopass.passes.check_donation import check
from hlopass.program import Program
from hlopass.proof import evidence, inputs, prepare
from hlopass.proof.client import (
    compile_module,
    cpu_client,
    fetch,
    parameter_layouts,
    refused,
    run_executable,
)
from hlopass.proof.difference import Array, first_difference
from hlopass.proof.evidence import Compiled
from hlopass.proof.observation import Difference, Job, Observation, Observed
from hlopass.proof.refusal import custom_call_targets
from hlopass.report import Argument, Evidence, Pair, Reason, Result, reported

Stage = Callable[[str], None]


@dataclass(frozen=True)
class _Runs:
    """What running showed: each donation with its facts, and where the results differ."""

    observed: list[Observed]
    difference: Difference | None
    repeatable: bool | None


def observe(job: Job, data: bytes, stage: Stage) -> Observation:
    """Everything that compiling, and in mode `run` running, a module shows.

    `stage` is told what begins. Raises HlopassError where the module cannot be compiled.
    """
    stage("reading the module")
    program = formats.read(data, job.label, job.entry)
    found = [*program.warnings, *check(program), *prepare.tuples(program)]
    found += prepare.partitions(program)
    if any(each.severity == "error" for each in found):
        raise HlopassError(found)
    if job.mode == "run":
        stage("making up the inputs")
    arrays = inputs.make(program.arguments, job.seed, job.label) if job.mode == "run" else []
    stage("looking at the donations")
    printed = fingerprint.of(program)
    donations = donation_attrs.read(program)
    costs = _costs(program, donations)
    prepare.as_main(program)
    with_donation = formats.write(program, "bytecode")
    donation_attrs.strip(program)
    without_donation = formats.write(program, "bytecode")
    stage("starting the runtime")
    client = cpu_client(job.devices)

    def compiled(bytecode: bytes) -> Any:
        return compile_module(
            client, bytecode, job.label, lambda: custom_call_targets(str(program.module))
        )

    stage("compiling without donation")
    plain = compiled(without_donation)
    stage("compiling with donation")
    donated = compiled(with_donation) if donations else plain
    without, with_ = evidence.read(plain), evidence.read(donated)
    runs = _Runs([_observed(each, with_) for each in donations], None, None)
    if job.mode == "run":
        prepare.transfers(without.transfers, job.label)
        prepare.custom_calls(without.custom_calls, job.label)
        runs = _run_both(program, (plain, donated), donations, arrays, with_, stage)
    return Observation(
        fingerprint=printed,
        platform=job.platform,
        devices=job.devices,
        mode=job.mode,
        donations=tuple(
            msgspec.structs.replace(each, cost=costs.get(each.argument.index))
            for each in runs.observed
        ),
        copies=Pair(without.copies, with_.copies),
        temp_bytes=Pair(without.temp_bytes, with_.temp_bytes),
        footprint=Pair(without.footprint, with_.footprint),
        results_equal=None if job.mode == "compile" else runs.difference is None,
        difference=runs.difference,
        repeatable=runs.repeatable,
        warnings=tuple(reported(each) for each in found),
    )


def _costs(program: Program, donations: list[Donation]) -> dict[int, Reason]:
    """For each alias whose reuse costs a copy, why."""
    aliases = [each for each in donations if each.result is not None]
    if not aliases:
        return {}
    reuse = analyse(program)
    found = {}
    for each in aliases:
        conflict = reuse.conflict(each.argument.index, each.result.index) if each.result else None
        if conflict is not None:
            found[each.argument.index] = Reason(conflict.code, str(conflict))
    return found


def _observed(donation: Donation, compiled: Compiled, **facts: Any) -> Observed:
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


def _run_both(
    program: Program,
    executables: tuple[Any, Any],
    donations: list[Donation],
    arrays: list[Array],
    compiled: Compiled,
    stage: Stage,
) -> _Runs:
    """Runs without and with donation; where they differ, once more without."""
    plain, donated = executables
    label = program.source.label

    def run_plain() -> list[Array]:
        return fetch(run_executable(plain, _placed(arrays, plain, label), label), label)

    stage("running without donation")
    expected = run_plain()
    stage("running with donation")
    observed, actual = _run(donated, donations, arrays, compiled, label)
    difference = first_difference(program.results, expected, actual)
    repeatable = None
    if difference is not None:
        stage("running without donation again")
        repeatable = first_difference(program.results, expected, run_plain()) is None
    return _Runs(observed, difference, repeatable)


def _run(
    executable: Any,
    donations: Sequence[Donation],
    arrays: list[Array],
    compiled: Compiled,
    label: str,
) -> tuple[list[Observed], list[Array]]:
    """Runs with donation; for each one, whether it was deleted and where its result lies."""
    buffers = _placed(arrays, executable, label)
    before = {each.argument.index: _pointer(buffers[each.argument.index]) for each in donations}
    results = run_executable(executable, buffers, label)
    observed = []
    for each in donations:
        index = each.argument.index
        tied = compiled.aliases.get(index)
        same = None
        if tied is not None and each.argument.bytes:
            same = (_pointer(results[tied]) == before[index],)
        deleted = bool(buffers[index].is_deleted())
        observed.append(_observed(each, compiled, deleted=deleted, same_buffer=same))
    return observed, fetch(results, label)


def _placed(arrays: list[Array], executable: Any, label: str) -> list[Any]:
    with refused("place the inputs of", label):
        return inputs.place(arrays, parameter_layouts(executable))


def _pointer(array: Any) -> int:
    return int(array.unsafe_buffer_pointer())
