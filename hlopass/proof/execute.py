"""Runs a program with and without its donations, and gathers the evidence."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
import numpy as np

from hlopass import donation_attrs, fingerprint, formats
from hlopass.dataflow import analyse
from hlopass.diagnostics import HlopassError, Where
from hlopass.donation import Donation
from hlopass.entry import rename_to_main
from hlopass.passes.check_donation import check
from hlopass.program import Program
from hlopass.proof import evidence, inputs
from hlopass.proof.client import compile_module, cpu_client, run_executable
from hlopass.proof.evidence import Compiled
from hlopass.proof.observation import Difference, Job, Observation, Observed
from hlopass.report import Argument, Evidence, Pair, Reason, Result, reported

Stage = Callable[[str], None]


def observe(job: Job, data: bytes, stage: Stage) -> Observation:
    """Everything that compiling, and in mode `run` running, a module shows.

    `stage` is told what begins. Raises HlopassError where the module cannot be compiled.
    """
    stage("reading the module")
    program = formats.read(data, job.label, job.entry)
    warnings = check(program)
    if any(found.severity == "error" for found in warnings):
        raise HlopassError(warnings)
    arrays = inputs.make(program.arguments, job.seed, job.label) if job.mode == "run" else []
    printed = fingerprint.of(program)
    donations = donation_attrs.read(program)
    costs = _costs(program, donations)
    rename_to_main(program.module, program.entry, Where(job.label))
    with_donation = formats.write(program, "bytecode")
    donation_attrs.strip(program)
    stage("starting the runtime")
    client = cpu_client(job.devices)
    stage("compiling without donation")
    plain_program = compile_module(client, formats.write(program, "bytecode"), job.label)
    stage("compiling with donation")
    program_ = compile_module(client, with_donation, job.label) if donations else plain_program
    plain, donated = evidence.read(plain_program), evidence.read(program_)
    observed = [_observed(each, donated) for each in donations]
    equal, difference = None, None
    if job.mode == "run":
        stage("running without donation")
        expected = [
            np.asarray(r) for r in run_executable(plain_program, inputs.place(arrays), job.label)
        ]
        stage("running with donation")
        observed, actual = _run(program_, donations, arrays, donated, job.label)
        difference = _first_difference(program, expected, actual)
        equal = difference is None
    return Observation(
        fingerprint=printed,
        platform=job.platform,
        devices=job.devices,
        mode=job.mode,
        donations=tuple(
            msgspec.structs.replace(each, cost=costs.get(each.argument.index)) for each in observed
        ),
        copies=Pair(plain.copies, donated.copies),
        temp_bytes=Pair(plain.temp_bytes, donated.temp_bytes),
        footprint=Pair(plain.footprint, donated.footprint),
        results_equal=equal,
        difference=difference,
        warnings=tuple(reported(found) for found in warnings),
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


def _run(
    executable: Any,
    donations: list[Donation],
    arrays: list[np.ndarray[Any, Any]],
    compiled: Compiled,
    label: str,
) -> tuple[list[Observed], list[np.ndarray[Any, Any]]]:
    """Runs with donation; for each one, whether it was deleted and where its result lies."""
    buffers = inputs.place(arrays)
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
    return observed, [np.asarray(result) for result in results]


def _pointer(array: Any) -> int:
    return int(array.unsafe_buffer_pointer())


def _first_difference(
    program: Program, expected: list[np.ndarray[Any, Any]], actual: list[np.ndarray[Any, Any]]
) -> Difference | None:
    """The first element whose bytes differ; NaN equals NaN of the same bytes."""
    for value, before, after in zip(program.results, expected, actual, strict=True):
        if before.tobytes() == after.tobytes():
            continue
        width = before.dtype.itemsize
        bytes_before = np.frombuffer(before.tobytes(), np.uint8).reshape(-1, width)
        bytes_after = np.frombuffer(after.tobytes(), np.uint8).reshape(-1, width)
        at = int(np.flatnonzero((bytes_before != bytes_after).any(axis=1))[0])
        position = tuple(int(i) for i in np.unravel_index(at, before.shape))
        result = Result(value.index, value.name)
        return Difference(result, position, str(before[position]), str(after[position]))
    return None
