"""Has a program looked at, with its inputs and what it is held against, and says what follows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from hlopass.bases import Base, base_of
from hlopass.compiled import Compiled
from hlopass.diagnostics import Diagnostic, UsageError, Where
from hlopass.donation import Donation
from hlopass.proof import compared, given, run, verdict
from hlopass.proof.observation import Job, Observation
from hlopass.proof.verdict import Requirements
from hlopass.report import Report, restored

OF_INPUTS = ("inputs-made-up",)
"""Codes of warnings that rewriting cannot have told."""


def prove(
    program: bytes | Compiled,
    job: Job,
    inputs: Any,
    against: Any,
    required: Requirements,
    asked: Sequence[Donation] | None,
    timeout: float | None,
    progress: Callable[[str], None] | None,
) -> tuple[Report, tuple[Diagnostic, ...]]:
    """The report and diagnostics of a proof: of a module, or of a program that is compiled.

    `job`: what is asked, but for inputs. `asked`: the donations of a program that was rewritten,
    which told its own warnings; None of another. Raises as `hlopass.verify`.
    """
    if job.runs < 1:
        message = f"cannot run {job.runs!r} times"
        raise UsageError(Diagnostic("usage", message, help="legal: an integer of at least 1"))
    base = base_of(against)
    seen = _observe(program, job, inputs, base, timeout, progress)
    report, found = verdict.judge(seen, required, asked or (), job.label)
    against = base.report or seen.base
    if against is not None:
        report, found = compared.added(
            report, found, against, base.said, seen, Where(job.label), required.max_copies
        )
    warnings = [each for each in seen.warnings if asked is None or each.code in OF_INPUTS]
    return report, (*map(restored, warnings), *found)


def _observe(
    program: bytes | Compiled,
    job: Job,
    inputs: Any,
    base: Base,
    timeout: float | None,
    progress: Callable[[str], None] | None,
) -> Observation:
    if not isinstance(program, Compiled):
        held = inputs if isinstance(inputs, given.Held) else given.of_python(inputs)
        job = msgspec.structs.replace(job, inputs=held.given, against=base.label)
        return run.observe(program, job, timeout, progress, held, base.raw)
    if base.raw is not None:
        message = "a compiled program cannot be held against another one"
        raise UsageError(Diagnostic("usage", message, help="give verify the program itself"))
    held = program.held(inputs)
    return program.observe(msgspec.structs.replace(job, inputs=held.given), held, timeout, progress)
