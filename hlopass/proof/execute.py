"""Compiles and runs a program with and without its donations, and gathers the evidence."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import msgspec
import numpy as np

from hlopass.jaxlib_compat import jaxlib_version
from hlopass.program import Program
from hlopass.proof import against, inputs, obtained, prepare, runs, unsharded, work
from hlopass.proof.binding import bind
from hlopass.proof.bound import Bound, Input, Resident, without_data
from hlopass.proof.client import client_of
from hlopass.proof.compiler import Compiler
from hlopass.proof.difference import Array
from hlopass.proof.evidence import Compiled
from hlopass.proof.executable import Executable
from hlopass.proof.given import Kind
from hlopass.proof.observation import Difference, Job, Observation
from hlopass.proof.placing import Placed
from hlopass.proof.runs import Runs, Stage
from hlopass.proof.work import Work
from hlopass.reductions import unreduced
from hlopass.report import Digest, Pair, Unsharded, reported
from hlopass.values import Value


def observe(job: Job, data: bytes, stage: Stage, client: Any = None) -> Observation:
    """Everything that compiling, and in mode `run` running, a module shows.

    `stage` is told what begins; `client` is one that is there already. Raises HlopassError
    where the module cannot be compiled.
    """
    stage("reading the module")
    program, devices, found = work.read(job, data)
    given = bound(job, program)
    stage("looking at the donations")
    mine = work.prepared(program, devices, found, job.against is not None)
    stage("starting the runtime")
    client = client or client_of(job.platform, devices)
    return observe_work(job, mine, given, Compiler(client), stage)


def observe_work(
    job: Job, mine: Work, given: Bound, compiler: Compiler, stage: Stage
) -> Observation:
    """As `observe`, of a program that was read; what was compiled before is not compiled again."""
    stage("compiling without donation")
    plain = compiler.plain(mine)
    stage("compiling with donation")
    donated = compiler.donated(mine)
    single = None
    if mine.single is not None:
        stage("compiling for one device")
        single = compiler.single(mine)
    ran = Runs([runs.observed(each, donated.facts) for each in mine.donations])
    if job.mode == "run":
        ready_to_run(plain.facts, job)
        placed = Placed(given.inputs, job.label)
        program = mine.program
        ran = runs.run_both(
            program.arguments,
            program.results,
            plain,
            donated,
            mine.donations,
            placed,
            stage,
            job.runs,
        )
    base = None
    if job.against is not None:
        stage("holding it against the other program")
        base = against.look(job, mine, given, compiler, donated, ran.results, stage)
    unsplit, difference = _against_one(mine, job, single, given.inputs, ran.results, stage)
    found = _observation(job, mine, plain, donated, ran, unsplit, difference)
    said = tuple(reported(each) for each in (*mine.found, *given.warnings))
    return msgspec.structs.replace(found, warnings=said, base=base)


def bound(
    job: Job, program: Program, residents: Mapping[int, Resident] = MappingProxyType({})
) -> Bound:
    """The program's inputs, of which only types are known yet; none where it is not run."""
    rest: Kind | None = "made-up" if job.mode == "run" else None
    found = bind(
        program.arguments,
        job.inputs,
        job.label,
        rest=rest,
        seed=job.seed,
        arrays=Path(job.arrays),
        residents=residents,
    )
    without_data(found.inputs, job.label)
    if job.mode == "run":
        needed = sum(argument.bytes or 0 for argument in program.arguments)
        inputs.check_memory(needed, "the arguments", job.label)
    return found


def ready_to_run(facts: Compiled, job: Job) -> None:
    """Makes ready what a program needs to run; raises HlopassError where it cannot run here."""
    prepare.transfers(facts.transfers, job.label)
    if job.platform == "cpu":
        prepare.custom_calls(facts.custom_calls, job.label)


def _against_one(
    mine: Work,
    job: Job,
    single: Executable | None,
    found_inputs: Sequence[Input],
    results: Sequence[Array],
    stage: Stage,
) -> tuple[Unsharded | None, Difference | None]:
    """How a sharded program compares with itself on one device; None where it is on one."""
    if single is None:
        return (None if mine.stuck is None else Unsharded(reason=mine.stuck)), None
    footprint = single.facts.footprint
    if job.mode == "compile":
        return Unsharded(footprint=footprint), None
    stage("running on one device")
    placed = Placed(found_inputs, job.label)
    expected = runs.run(single, mine.program.results, placed)
    alone = unreduced(mine.reuse.graph)
    found, difference = unsharded.compare(
        mine.program.results, expected, results, alone, job.tolerance
    )
    transfers = placed.ledger.counts
    return msgspec.structs.replace(found, footprint=footprint, transfers=transfers), difference


def _digest(value: Value, array: Array) -> Digest:
    data = np.ascontiguousarray(array).reshape(-1).view(np.uint8).data
    return Digest(value.index, value.name, value.type, hashlib.sha256(data).hexdigest())


def _observation(
    job: Job,
    mine: Work,
    plain: Executable,
    donated: Executable,
    ran: Runs,
    unsplit: Unsharded | None,
    difference: Difference | None,
) -> Observation:
    costs = mine.costs()
    without, with_ = plain.facts, donated.facts
    sharded = mine.partitioning is not None
    return Observation(
        fingerprint=mine.fingerprint,
        platform=job.platform,
        devices=mine.devices,
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
        shardings=obtained.shardings(mine.asked, with_) if sharded else (),
        collectives=with_.collectives if sharded else (),
        unsharded=unsplit,
        unsharded_difference=difference,
        transfers=ran.transfers,
        jaxlib=jaxlib_version(),
        runs=job.runs,
        results=tuple(map(_digest, mine.program.results, ran.results)),
        random=prepare.draws_numbers(mine.program),
    )
