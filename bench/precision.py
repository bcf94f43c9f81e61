"""How often the analysis is right: its conflicts held against what XLA's CPU compiler does.

    python bench/precision.py                        # 200 random programs
    python bench/precision.py --programs 2000 --seed 7

Each pair of an argument and a result of its size is donated alone. What is called free must
cost nothing: no copy more, no larger footprint. What is called a conflict may cost nothing:
XLA copies anyway, or finds a way around. Pairs that are called free and are not are printed
with the seed of their program; exit status 1 where they are more than one in a hundred.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from random_programs import module

from hlopass import donation_attrs, formats
from hlopass.dataflow import analyse
from hlopass.donation import Donation
from hlopass.program import Program
from hlopass.proof import evidence
from hlopass.proof.client import client_of, compile_module
from hlopass.proof.evidence import Compiled

PAIRS = 3
"""So many pairs of a program are tried."""

ALIGNMENT = 64
"""Temporary buffers start at multiples of it."""

FREE = "free"


def compiled(program: Program, pair: tuple[int, int] | None) -> Compiled:
    """The facts of a program that donates one pair, or nothing."""
    donations = []
    if pair is not None:
        argument, result = program.arguments[pair[0]], program.results[pair[1]]
        donations = [Donation(argument, result, "alias", "explicit")]
    donation_attrs.write(program, donations, program.arguments)
    module_ = formats.write(program, "bytecode")
    return evidence.read(compile_module(client_of("cpu", 1), module_, "<random>"))


def cost(without: Compiled, with_: Compiled) -> str:
    """What a donation costs: copies, memory, or nothing."""
    if with_.copies > without.copies:
        return "copies"
    return "memory" if with_.footprint > without.footprint + ALIGNMENT else FREE


def measure(seed: int) -> list[tuple[str, str]]:
    """For some pairs of a random program: what is predicted, and what it costs."""
    choose = random.Random(seed)
    program = formats.read(module(choose.randrange), "<random>")
    reuse = analyse(program)
    pairs = [
        (argument.index, result.index)
        for argument in program.arguments
        for result in program.results
        if argument.bytes == result.bytes and (argument.bytes or 0) >= ALIGNMENT
    ]
    if not pairs:
        return []
    without = compiled(program, None)
    found = []
    for pair in choose.sample(pairs, min(PAIRS, len(pairs))):
        conflict = reuse.conflict(*pair)
        found.append((conflict.code if conflict else FREE, cost(without, compiled(program, pair))))
        if found[-1][0] == FREE and found[-1][1] != FREE:
            print(f"seed {seed}: argument {pair[0]} over result {pair[1]} costs {found[-1][1]}")
    return found


def main() -> int:
    """Prints a line a code: how many pairs, and what they cost."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--programs", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    found: Counter[tuple[str, str]] = Counter()
    for number in range(options.programs):
        found.update(measure(options.seed * 1_000_000 + number))
    print(f"{'predicted':20} {'pairs':>6} {'free':>6} {'copies':>6} {'memory':>6}")
    for code in sorted({code for code, _ in found}, key=lambda code: (code != FREE, code)):
        counts = [found[code, each] for each in (FREE, "copies", "memory")]
        print(f"{code:20} {sum(counts):6} " + " ".join(f"{count:6}" for count in counts))
    free = [found[FREE, each] for each in (FREE, "copies", "memory")]
    conflicts = sum(found.values()) - sum(free)
    harmless = sum(count for (code, each), count in found.items() if code != FREE and each == FREE)
    print(f"{sum(free[1:])} of {sum(free)} free pairs cost something; ", end="")
    print(f"{harmless} of {conflicts} conflicts cost nothing")
    return int(100 * sum(free[1:]) > sum(free))


if __name__ == "__main__":
    sys.exit(main())
