"""Random programs with random donated arguments: they run, and what is called free is free.

Temporary memory may grow by at most the bytes that donation saves: without it, XLA can keep an
intermediate in the result's own buffer, which the argument now occupies. So the footprint is
what must not grow.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from random_programs import module

from hlopass import donation_attrs, formats
from hlopass.dataflow import analyse
from hlopass.donation import Donation
from hlopass.pairing import FlowPairing
from hlopass.program import Program
from hlopass.proof import evidence, inputs
from hlopass.proof.client import compile_module, cpu_client, fetch, run_executable
from hlopass.proof.evidence import Compiled

LABEL = "<random>"


def compiled(program: Program) -> Any:
    """The program as it is now, compiled for the CPU."""
    return compile_module(cpu_client(1), formats.write(program, "bytecode"), LABEL)


def run(executable: Any, program: Program) -> list[bytes]:
    """The bytes of every result, for inputs that are the same each time."""
    placed = inputs.place(inputs.make(program.arguments, 0, LABEL))
    return [array.tobytes() for array in fetch(run_executable(executable, placed, LABEL), LABEL)]


def paired(program: Program, donated: list[bool]) -> tuple[list[Donation], bool]:
    """Donations of some arguments by data flow, and whether all of them are called free."""
    reuse = analyse(program)
    chosen = [
        argument
        for argument, wanted in zip(program.arguments, donated, strict=False)
        if wanted and argument.obstacle is None
    ]
    pairs = FlowPairing(reuse)(chosen, program.results).results
    donations = [
        Donation(program.arguments[a], program.results[r], "alias", "explicit")
        for a, r in sorted(pairs.items())
    ]
    return donations, all(reuse.conflict(a, r) is None for a, r in pairs.items())


def check(text: str, donated: list[bool]) -> None:
    """One program: its results are the same with donation, and free donation costs nothing."""
    program = formats.read(text, LABEL)
    plain = compiled(program)
    expected = run(plain, program)
    donations, free = paired(program, donated)
    donation_attrs.write(program, donations, ())
    executable = compiled(program)
    assert run(executable, program) == expected
    with_: Compiled = evidence.read(executable)
    without = evidence.read(plain)
    assert with_.aliases == {d.argument.index: d.result.index for d in donations if d.result}
    if free:
        assert with_.copies <= without.copies, text
        assert with_.footprint <= without.footprint, text


@st.composite
def programs(draw: st.DrawFn) -> str:
    """The text of a random module."""
    return module(lambda n: draw(st.integers(0, n - 1)))


QUICK = settings(
    max_examples=60,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)


@QUICK
@given(programs(), st.lists(st.booleans(), min_size=12, max_size=12))
def test_donation_keeps_the_results_and_what_is_free_is_free(
    text: str, donated: list[bool]
) -> None:
    check(text, donated)


@pytest.mark.slow
@settings(QUICK, max_examples=400, derandomize=False)
@given(programs(), st.lists(st.booleans(), min_size=12, max_size=12))
def test_the_same_of_many_more(text: str, donated: list[bool]) -> None:
    check(text, donated)
