"""Compiles and runs a program with and without its donations, and gathers the evidence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec

from hlopass import donation_attrs, fingerprint, formats
from hlopass.dataflow import analyse
from hlopass.diagnostics import Diagnostic, HlopassError
from hlopass.donation import Donation
from hlopass.passes.check_donation import check
from hlopass.program import Program
from hlopass.proof import evidence, inputs, obtained, partition, prepare, runs, unsharded
from hlopass.proof.binding import Bound, Input, bind, without_data
from hlopass.proof.client import client_of, compile_module, parameter_layouts
from hlopass.proof.difference import Array
from hlopass.proof.executable import Executable
from hlopass.proof.given import Kind
from hlopass.proof.observation import Difference, Job, Observation
from hlopass.proof.partition import Partitioning
from hlopass.proof.placing import Placed
from hlopass.proof.refusal import custom_call_targets
from hlopass.proof.runs import Runs, Stage
from hlopass.reductions import unreduced
from hlopass.report import Pair, Reason, Unsharded, reported
from hlopass.reuse import Reuse


@dataclass(frozen=True)
class _Work:
    """A program that was read, and all that is compiled of it, as bytecode.

    `plain` is without donation; `single` without sharding too, for one device, or None where
    that is the same as `plain`, or where `stuck` says why there is none.
    """

    program: Program
    devices: int
    found: list[Diagnostic]
    fingerprint: str
    donations: list[Donation]
    reuse: Reuse
    asked: obtained.Asked
    partitioning: Partitioning | None
    donated: bytes
    plain: bytes
    single: bytes | None = None
    stuck: str | None = None


def observe(job: Job, data: bytes, stage: Stage, client: Any = None) -> Observation:
    """Everything that compiling, and in mode `run` running, a module shows.

    `stage` is told what begins; `client` is one that is there already. Raises HlopassError
    where the module cannot be compiled.
    """
    stage("reading the module")
    program, devices, found = _read(job, data)
    bound = _bound(job, program)
    found += bound.warnings
    stage("looking at the donations")
    work = _prepared(program, devices, found)
    stage("starting the runtime")
    client = client or client_of(job.platform, devices)
    stage("compiling without donation")
    plain = _compiled(client, work, work.plain)
    stage("compiling with donation")
    donated = _compiled(client, work, work.donated) if work.donations else plain
    single = None
    if work.single is not None:
        stage("compiling for one device")
        single = _compiled(client, replace(work, partitioning=None, devices=1), work.single)
    ran = Runs([runs.observed(each, donated.facts) for each in work.donations])
    if job.mode == "run":
        prepare.transfers(plain.facts.transfers, job.label)
        if job.platform == "cpu":
            prepare.custom_calls(plain.facts.custom_calls, job.label)
        placed = Placed(bound.inputs, job.label)
        ran = runs.run_both(program.results, plain, donated, work.donations, placed, stage)
    against, difference = _against_one(work, job, single, bound.inputs, ran.results, stage)
    return _observation(job, work, plain, donated, ran, against, difference)


def _bound(job: Job, program: Program) -> Bound:
    """The program's inputs, of which only types are known yet; none where it is not run."""
    rest: Kind | None = "made-up" if job.mode == "run" else None
    arrays = Path(job.arrays)
    bound = bind(program.arguments, job.inputs, job.label, rest=rest, seed=job.seed, arrays=arrays)
    without_data(bound.inputs, job.label)
    if job.mode == "run":
        needed = sum(argument.bytes or 0 for argument in program.arguments)
        inputs.check_memory(needed, "the arguments", job.label)
    return bound


def _read(job: Job, data: bytes) -> tuple[Program, int, list[Diagnostic]]:
    """The program, for how many devices it is compiled, and warnings."""
    program = formats.read(data, job.label, job.entry)
    found = [*program.warnings, *check(program), *prepare.tuples(program)]
    if any(each.severity == "error" for each in found):
        raise HlopassError(found)
    devices, warned = partition.devices(program, job.devices)
    return program, devices, [*found, *warned]


def _prepared(program: Program, devices: int, found: list[Diagnostic]) -> _Work:
    """Takes from a program what is to be known of it, and makes the modules to compile."""
    printed, asked = fingerprint.of(program), obtained.asked(program)
    if devices == 1 < partition.own(program):
        stuck = partition.strip(program)
        if stuck:
            raise HlopassError(stuck)
    donations, reuse = donation_attrs.read(program), analyse(program)
    prepare.as_main(program)
    partitioning = partition.partitioning(program, devices)
    donated = formats.write(program, "bytecode")
    donation_attrs.strip(program)
    plain = formats.write(program, "bytecode")
    work = _Work(
        program, devices, found, printed, donations, reuse, asked, partitioning, donated, plain
    )
    if devices == 1:
        return work
    stuck = partition.strip(program)
    if stuck:
        return replace(work, stuck=stuck[0].message)
    return replace(work, single=formats.write(program, "bytecode"))


def _compiled(client: Any, work: _Work, bytecode: bytes) -> Executable:
    program = work.program
    loaded = compile_module(
        client,
        bytecode,
        program.source.label,
        lambda: custom_call_targets(str(program.module)),
        work.partitioning,
    )
    facts = evidence.read(loaded)
    return Executable(
        loaded,
        facts,
        work.devices,
        obtained.tiles(program.arguments, facts.arguments),
        obtained.tiles(program.results, facts.results),
        parameter_layouts(loaded),
    )


def _against_one(
    work: _Work,
    job: Job,
    single: Executable | None,
    found_inputs: Sequence[Input],
    results: Sequence[Array],
    stage: Stage,
) -> tuple[Unsharded | None, Difference | None]:
    """How a sharded program compares with itself on one device; None where it is on one."""
    if single is None:
        return (None if work.stuck is None else Unsharded(reason=work.stuck)), None
    footprint = single.facts.footprint
    if job.mode == "compile":
        return Unsharded(footprint=footprint), None
    stage("running on one device")
    placed = Placed(found_inputs, job.label)
    expected = runs.run(single, work.program.results, placed)
    alone = unreduced(work.reuse.graph)
    found, difference = unsharded.compare(
        work.program.results, expected, results, alone, job.tolerance
    )
    transfers = placed.ledger.counts
    return msgspec.structs.replace(found, footprint=footprint, transfers=transfers), difference


def _observation(
    job: Job,
    work: _Work,
    plain: Executable,
    donated: Executable,
    ran: Runs,
    against: Unsharded | None,
    difference: Difference | None,
) -> Observation:
    costs = _costs(work.donations, work.reuse)
    without, with_ = plain.facts, donated.facts
    sharded = work.partitioning is not None
    return Observation(
        fingerprint=work.fingerprint,
        platform=job.platform,
        devices=work.devices,
        mode=job.mode,
        donations=tuple(
            msgspec.structs.replace(each, cost=costs.get(each.argument.index))
            for each in ran.observed
        ),
        copies=Pair(without.copies, with_.copies),
        temp_bytes=Pair(without.temp_bytes, with_.temp_bytes),
        footprint=Pair(without.footprint, with_.footprint),
        results_equal=None if job.mode == "compile" else ran.difference is None,
        difference=ran.difference,
        repeatable=ran.repeatable,
        shardings=obtained.shardings(work.asked, with_) if sharded else (),
        collectives=with_.collectives if sharded else (),
        unsharded=against,
        unsharded_difference=difference,
        transfers=ran.transfers,
        random=prepare.draws_numbers(work.program),
        warnings=tuple(reported(each) for each in work.found),
    )


def _costs(donations: list[Donation], reuse: Reuse) -> dict[int, Reason]:
    """For each alias whose reuse costs a copy, why."""
    found = {}
    for each in donations:
        if each.result is None:
            continue
        conflict = reuse.conflict(each.argument.index, each.result.index)
        if conflict is not None:
            found[each.argument.index] = Reason(conflict.code, str(conflict))
    return found
