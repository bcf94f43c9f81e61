"""A program held against another one: what is the same in them, what it costs, and the numbers."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from pathlib import Path

import msgspec

from hlopass.diagnostics import Diagnostic, HlopassError, Where
from hlopass.proof import runs, unsharded, work
from hlopass.proof.bound import Bound
from hlopass.proof.compiler import Compiler
from hlopass.proof.difference import Array, first_difference
from hlopass.proof.executable import Executable
from hlopass.proof.observation import Base, Job
from hlopass.proof.placing import Placed
from hlopass.proof.runs import Stage
from hlopass.proof.work import Texts, Work
from hlopass.report import Same
from hlopass.values import Value

_AROUND = 40
"""Characters that are shown before the first that differs."""


def look(
    job: Job,
    mine: Work,
    given: Bound,
    compiler: Compiler,
    donated: Executable,
    results: Sequence[Array],
    stage: Stage,
) -> Base:
    """What is seen of the other program, with its donations, on the same inputs.

    `results`: those of this one. Raises HlopassError where the other one cannot be compiled or
    run.
    """
    assert job.against is not None
    theirs = msgspec.structs.replace(job, label=job.against)
    data = (Path(job.arrays) / "base").read_bytes()
    program, devices, found = work.read(theirs, data)
    if devices != mine.devices:
        message = f"it is for {devices} devices, and {job.label} for {mine.devices}"
        raise HlopassError(Diagnostic("against-devices", message, Where(theirs.label)))
    base = work.prepared(program, devices, found, compared=True)
    executable = compiler.donated(base)
    assert mine.texts is not None and base.texts is not None
    same, lines = compare(base.texts, mine.texts)
    seen = [runs.observed(each, executable.facts) for each in base.donations]
    facts = executable.facts
    looked = Base(same, lines, tuple(seen), facts.copies, facts.temp_bytes, facts.footprint)
    reason = _unlike(base.program.arguments, mine.program.arguments)
    reason = reason or _unlike(base.program.results, mine.program.results)
    if job.mode == "compile" or reason is not None:
        return msgspec.structs.replace(looked, reason=reason)
    stage("running the other program")
    placed = Placed(given.inputs, theirs.label)
    seen, made = runs.run_donated(
        executable, program.arguments, base.donations, placed.on(executable), theirs.label
    )
    expected = runs.whole(executable, program.results, made, theirs.label)
    looked = msgspec.structs.replace(looked, donations=tuple(seen))
    difference = first_difference(mine.program.results, expected, results)
    if difference is not None and job.tolerance:
        values = mine.program.results
        reduced = [False] * len(values)
        _, difference = unsharded.compare(values, expected, results, reduced, job.tolerance)
    return msgspec.structs.replace(looked, equal=difference is None, difference=difference)


def compare(base: Texts, now: Texts) -> tuple[Same, tuple[str, str] | None]:
    """What two programs have in common, and the first lines that differ of the rest."""
    if base.whole == now.whole:
        return "all", None
    if base.plain == now.plain:
        return "all but donation", None
    if base.single == now.single:
        return "all but donation and sharding", None
    pairs = zip_longest(base.single.splitlines(), now.single.splitlines(), fillvalue="")
    before, after = next(pair for pair in pairs if pair[0] != pair[1])
    pieces = enumerate(zip_longest(before, after))
    start = max(0, next(at for at, (a, b) in pieces if a != b) - _AROUND)
    return "nothing", (_cut(before, start), _cut(after, start))


def _cut(line: str, start: int) -> str:
    """What a line has around the place where it differs."""
    piece = line[start : start + 3 * _AROUND].strip()
    after = " ..." if len(line) > start + 3 * _AROUND else ""
    return ("... " if start and piece else "") + piece + after


def _unlike(base: Sequence[Value], now: Sequence[Value]) -> str | None:
    """Why two programs do not take, or do not give, the same."""
    for theirs, mine in zip(base, now, strict=False):
        if theirs.type != mine.type:
            return f"its {theirs} is {theirs.type}, and {mine} is {mine.type}"
    if len(base) != len(now):
        role = (base or now)[0].role
        return f"it has {len(base)} {role}s, and the other {len(now)}"
    return None
