"""Compiles a program with several sets of donations, and says what each costs."""

from __future__ import annotations

from collections.abc import Callable

from hlopass import donation_attrs, formats
from hlopass.diagnostics import HlopassError
from hlopass.donation import Donation
from hlopass.program import Program
from hlopass.proof import evidence, partition, prepare
from hlopass.proof.client import client_of, compile_module
from hlopass.proof.observation import DONOR, Figures, Job
from hlopass.proof.refusal import custom_call_targets


def measure(job: Job, data: bytes, stage: Callable[[str], None]) -> tuple[Figures, ...]:
    """The figures of each of the job's candidates, in their order; the module is read once.

    Raises HlopassError where one of them cannot be compiled.
    """
    stage("reading the module")
    program = formats.read(data, job.label, job.entry)
    refused = prepare.tuples(program)
    if refused:
        raise HlopassError(refused)
    prepare.as_main(program)
    donation_attrs.strip(program)
    stage("starting the runtime")
    devices, _ = partition.devices(program, job.devices)
    partitioning = partition.partitioning(program, devices)
    client = client_of(job.platform, devices)
    found = []
    for number, candidate in enumerate(job.candidates, 1):
        stage(f"compiling candidate {number} of {len(job.candidates)}")
        donation_attrs.write(program, _donations(program, candidate), program.arguments)
        data = formats.write(program, "bytecode")
        executable = compile_module(
            client,
            data,
            job.label,
            lambda: custom_call_targets(str(program.module)),
            partitioning,
        )
        facts = evidence.read(executable)
        found.append(Figures(facts.copies, facts.temp_bytes, facts.footprint))
    return tuple(found)


def _donations(program: Program, candidate: dict[int, int]) -> list[Donation]:
    return [
        Donation(
            program.arguments[argument],
            None if result == DONOR else program.results[result],
            "donor" if result == DONOR else "alias",
            "explicit",
        )
        for argument, result in candidate.items()
    ]
