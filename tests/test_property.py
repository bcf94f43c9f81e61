"""Random programs with random donated arguments: they run, and what is called free is free.

Free means: no more copies than without donation, and no larger footprint. That is held as a
rate, of many programs, as the analysis knows most of what XLA does and not all. Of each one
it is held that temporary memory grows by no more than donation saves, which it may where an
intermediate was in the result's own buffer, and that only conditionals add copies.
"""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from random_programs import Below, module

from hlopass import donation_attrs, formats
from hlopass.dataflow import analyse
from hlopass.donation import Donation
from hlopass.pairing import FlowPairing
from hlopass.program import Program
from hlopass.proof import evidence, inputs, placing
from hlopass.proof.client import client_of, compile_module, fetch, run_executable
from hlopass.reuse import Reuse

LABEL = "<random>"
ALIGNMENT = 64
"""Temporary buffers start at multiples of it."""


def compiled(program: Program) -> Any:
    """The program as it is now, compiled for the CPU."""
    return compile_module(client_of("cpu", 1), formats.write(program, "bytecode"), LABEL)


def run(executable: Any, program: Program) -> list[bytes]:
    """The bytes of every result, for inputs that are the same each time."""
    placed = placing.place(inputs.make(program.arguments, 0, LABEL))
    return [array.tobytes() for array in fetch(run_executable(executable, placed, LABEL), LABEL)]


def by_data_flow(program: Program, reuse: Reuse, below: Below) -> dict[int, int]:
    """The pairs that hlopass makes, of about half of the arguments."""
    donated = [each for each in program.arguments if not each.obstacle and below(2)]
    return FlowPairing(reuse)(donated, program.results).results


def at_random(program: Program, reuse: Reuse, below: Below) -> dict[int, int]:
    """Any pairs of equal size; three times out of four only such as are called free."""
    only_free = below(4)
    found: dict[int, int] = {}
    for argument in program.arguments:
        fitting = [
            result.index
            for result in program.results
            if result.bytes == argument.bytes and result.index not in found.values()
            if not only_free or reuse.conflict(argument.index, result.index) is None
        ]
        if fitting and below(4):
            found[argument.index] = fitting[below(len(fitting))]
    return found


def check(text: str, below: Below) -> bool | None:
    """Holds one program to what is promised of each; whether what is called free was free.

    None where not all its donations are called free.
    """
    program = formats.read(text, LABEL)
    reuse = analyse(program)
    pairs = (by_data_flow if below(2) else at_random)(program, reuse, below)
    plain = compiled(program)
    expected = run(plain, program)
    donations = [
        Donation(program.arguments[a], program.results[r], "alias", "explicit")
        for a, r in sorted(pairs.items())
    ]
    donation_attrs.write(program, donations, ())
    donated = compiled(program)
    assert run(donated, program) == expected
    with_, without = evidence.read(donated), evidence.read(plain)
    assert with_.aliases == pairs
    if not pairs or any(reuse.conflict(argument, result) for argument, result in pairs.items()):
        return None
    saved = sum(donation.argument.bytes or 0 for donation in donations)
    assert with_.copies <= without.copies + moved_by_conditionals(text, len(pairs)), text
    assert with_.footprint <= without.footprint + saved + ALIGNMENT, text
    return with_.copies <= without.copies and with_.footprint <= without.footprint + ALIGNMENT


def moved_by_conditionals(text: str, donated: int) -> int:
    """Copies that may be made nevertheless: XLA moves code in and out of conditionals.

    It happens to one program in two hundred of those here that have any.
    """
    return donated if "stablehlo.if" in text or "stablehlo.case" in text else 0


QUICK = settings(
    max_examples=120,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)


@QUICK
@given(st.data())
def test_donation_keeps_the_results_and_what_is_free_is_free(data: st.DataObject) -> None:
    def below(number: int) -> int:
        return int(data.draw(st.integers(0, number - 1)))

    check(module(below), below)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_what_is_called_free_is_free_in_98_of_100(seed: int) -> None:
    free: list[bool] = []
    for number in range(250):
        choose = random.Random(1000 * seed + number)
        held = check(module(choose.randrange), choose.randrange)
        free += [] if held is None else [held]
    assert len(free) > 50
    assert sum(free) >= 0.98 * len(free)
