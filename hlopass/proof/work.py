"""A program as it is proved: read once, with all that is compiled of it."""

from __future__ import annotations

import io
from dataclasses import dataclass, replace
from typing import NamedTuple

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


class Texts(NamedTuple):
    """A program as text: as it is, without donation, and without sharding too, where it can be."""

    whole: str
    plain: str
    single: str


@dataclass(frozen=True)
class Work:
    """A program that was read, and all that is compiled of it, as bytecode.

    `plain` is without donation; `single` without sharding too, for one device, or None where
    that is the same as `plain`, or where `stuck` says why there is none. `texts`: to compare it
    with another, where that is wanted.
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
    texts: Texts | None = None

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


def prepared(
    program: Program, devices: int, found: list[Diagnostic], compared: bool = False
) -> Work:
    """Takes from a program what is to be known of it, and makes the modules to compile.

    `compared`: it is to be compared with another.
    """
    whole = text_of(program) if compared else ""
    printed, asked = fingerprint.of(program), obtained.asked(program)
    if devices == 1 < partition.own(program):
        stuck = partition.strip(program)
        if stuck:
            raise HlopassError(stuck)
    donations, reuse = donation_attrs.read(program), analyse(program)
    prepare.as_main(program)
    partitioning = partition.partitioning(program, devices)
    donated = bytecode_of(program)
    plain = donated
    if donations:
        donation_attrs.strip(program)
        plain = bytecode_of(program)
    text = text_of(program) if compared else ""
    work = Work(
        program, devices, found, printed, donations, reuse, asked, partitioning, donated, plain
    )
    if devices > 1:
        stuck = partition.strip(program)
        if stuck:
            work = replace(work, stuck=stuck[0].message)
        else:
            work = replace(work, single=bytecode_of(program))
    texts = Texts(whole, text, text_of(program)) if compared else None
    return replace(work, texts=texts)


def bytecode_of(program: Program) -> bytes:
    """A program for the compiler, as it is in memory, with the places that parsing gave it."""
    buffer = io.BytesIO()
    program.module.operation.write_bytecode(buffer)
    return buffer.getvalue()


def text_of(program: Program) -> str:
    """A program's text, without the names of places and values in the source."""
    return str(program.module.operation.get_asm(assume_verified=True))
