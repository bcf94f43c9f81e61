"""A program as it is proved: read once, with all that is compiled of it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from hlopass import donation_attrs, fingerprint, formats
from hlopass.dataflow import analyse
from hlopass.diagnostics import Diagnostic, HlopassError
from hlopass.donation import Donation
from hlopass.passes.check_donation import check
from hlopass.program import Program
from hlopass.proof import obtained, partition, prepare
from hlopass.proof.observation import Job
from hlopass.proof.partition import Partitioning
from hlopass.report import Reason
from hlopass.reuse import Reuse


@dataclass(frozen=True)
class Work:
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

    def costs(self) -> dict[int, Reason]:
        """For each alias whose reuse costs a copy, why."""
        found = {}
        for each in self.donations:
            if each.result is None:
                continue
            conflict = self.reuse.conflict(each.argument.index, each.result.index)
            if conflict is not None:
                found[each.argument.index] = Reason(conflict.code, str(conflict))
        return found


def read(job: Job, data: bytes) -> tuple[Program, int, list[Diagnostic]]:
    """The program, for how many devices it is compiled, and warnings."""
    program = formats.read(data, job.label, job.entry)
    found = [*program.warnings, *check(program), *prepare.tuples(program)]
    if any(each.severity == "error" for each in found):
        raise HlopassError(found)
    devices, warned = partition.devices(program, job.devices)
    return program, devices, [*found, *warned]


def prepared(program: Program, devices: int, found: list[Diagnostic]) -> Work:
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
    plain = donated
    if donations:
        donation_attrs.strip(program)
        plain = formats.write(program, "bytecode")
    work = Work(
        program, devices, found, printed, donations, reuse, asked, partitioning, donated, plain
    )
    if devices == 1:
        return work
    stuck = partition.strip(program)
    if stuck:
        return replace(work, stuck=stuck[0].message)
    return replace(work, single=formats.write(program, "bytecode"))
