"""Measures what each way of pairing costs: none, JAX's, XLA's, and hlopass's.

    python bench/pairing.py                   # all programs
    python bench/pairing.py --only swap       # one of them
    python bench/pairing.py --markdown        # the table as Markdown

All four are compiled from the same lowered text and run in turns in one process. Exit
status 1 says that hlopass makes more copies or needs more memory than JAX somewhere, or
that a result differs from the undonated one in any bit.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import geometric_mean
from typing import Any

import jax
import numpy as np

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parent.parent)]

from programs import PROGRAMS, Program

import hlopass
from hlopass import formats
from hlopass.proof import evidence, inputs, placing
from hlopass.proof.client import client_of, compile_module, run_executable

VARIANTS = ("none", "jax", "xla", "hlopass")
"""No donation; JAX's own pairing; all donated as donors, paired by XLA; by data flow."""

MUST_BE_FREE = ("swap", "adam_reversed")
"""Programs that hlopass must run with no copy and no temporary memory."""

ROUNDS = 9


@dataclass(frozen=True)
class Figures:
    """What one variant of a program costs, and whether its results are the undonated ones."""

    copies: int
    temp: int
    footprint: int
    seconds: float
    equal: bool


Measured = dict[str, Figures]
"""The figures of a program by variant."""


def measure(program: Program, client: Any) -> Measured:
    """Compiles a program's variants, runs them in turns, and compares their results."""
    built = {
        name: compile_module(client, module, f"{program.name}, {name}")
        for name, module in _modules(program)
    }
    arrays = _inputs(program)
    expected: list[bytes] = []
    equal, seconds = {}, dict.fromkeys(built, float("inf"))
    for round_ in range(ROUNDS + 1):
        for name, executable in built.items():
            buffers = placing.place(arrays)
            start = time.perf_counter()
            results = run_executable(executable, buffers, name)
            took = time.perf_counter() - start
            if round_:
                seconds[name] = min(seconds[name], took)
                continue
            found = [np.asarray(result).tobytes() for result in results]
            expected = expected or found
            equal[name] = found == expected
    facts = {name: evidence.read(executable) for name, executable in built.items()}
    return {
        name: Figures(each.copies, each.temp_bytes, each.footprint, seconds[name], equal[name])
        for name, each in facts.items()
    }


def _modules(program: Program) -> Iterator[tuple[str, bytes]]:
    """Each variant as bytecode, in the order of VARIANTS."""
    text = _lowered(program)
    indices = _flat_indices(program, program.donated)
    spare = set(_flat_indices(program, program.spare))
    yield "none", hlopass.rewrite(text).bytecode()
    own = formats.read(_lowered(program, program.donated), "jax")
    yield "jax", formats.write(own, "bytecode")
    donors = [{"arg": index, "as": "donor"} for index in indices]
    yield "xla", hlopass.rewrite(text, donate=donors).bytecode()
    wanted = [{"arg": index, "optional": True} if index in spare else index for index in indices]
    yield "hlopass", hlopass.rewrite(text, donate=wanted).bytecode()


def _lowered(program: Program, donated: tuple[int, ...] = ()) -> str:
    jitted = jax.jit(program.function, donate_argnums=donated, keep_unused=True)
    with warnings.catch_warnings(action="ignore"):
        module = jitted.lower(*program.arguments).compiler_ir("stablehlo")
    return str(module.operation.get_asm(enable_debug_info=True))


def _flat_indices(program: Program, parameters: Sequence[int]) -> list[int]:
    """The arguments of the lowered `main` that some parameters of a function become."""
    starts = [0]
    for tree in program.arguments:
        starts.append(starts[-1] + len(jax.tree.leaves(tree)))
    return [index for at in parameters for index in range(starts[at], starts[at + 1])]


def _inputs(program: Program) -> list[np.ndarray[Any, Any]]:
    arguments = formats.read(_lowered(program), program.name).arguments
    return inputs.make(arguments, seed=0, label=program.name)


def failures(name: str, measured: Measured) -> list[str]:
    """What is worse than it should be, in words."""
    own, ours = measured["jax"], measured["hlopass"]
    found = [
        f"{name}: results differ with {variant}"
        for variant, figures in measured.items()
        if not figures.equal
    ]
    if ours.copies > own.copies:
        found.append(f"{name}: {ours.copies} copies, and JAX's pairing costs {own.copies}")
    if ours.footprint > own.footprint:
        found.append(f"{name}: {ours.footprint} bytes, and JAX's pairing needs {own.footprint}")
    if name in MUST_BE_FREE and (ours.copies or ours.temp):
        found.append(f"{name}: {ours.copies} copies and {ours.temp} temporary bytes, not 0 and 0")
    return found


# The table

COLUMNS: tuple[tuple[str, Callable[[Figures], str]], ...] = (
    ("copies", lambda figures: str(figures.copies)),
    ("temp MB", lambda figures: f"{figures.temp / 1e6:.1f}"),
    ("footprint MB", lambda figures: f"{figures.footprint / 1e6:.1f}"),
    ("ms", lambda figures: f"{figures.seconds * 1e3:.2f}"),
)


def rows(name: str, measured: Measured) -> Iterator[list[str]]:
    """A row for each variant: its figures, and its time as a part of JAX's."""
    for variant in VARIANTS:
        figures = measured[variant]
        ratio = figures.seconds / measured["jax"].seconds
        shown = [cell(figures) for _, cell in COLUMNS]
        yield [name, variant, *shown, f"{ratio:.2f}", "yes" if figures.equal else "NO"]


def header() -> list[str]:
    """The columns of the table."""
    return ["program", "pairing", *(title for title, _ in COLUMNS), "time/JAX", "equal"]


def markdown(everything: dict[str, Measured]) -> str:
    """A line a program: no donation, JAX, XLA and hlopass side by side."""
    titles = ["program", "copies", "temp MB", "footprint MB", "ms", "time to JAX's"]
    lines = [titles, ["---", *["---:"] * (len(titles) - 1)]]
    for name, measured in everything.items():
        cells = [" / ".join(cell(measured[variant]) for variant in VARIANTS) for _, cell in COLUMNS]
        ratio = measured["hlopass"].seconds / measured["jax"].seconds
        lines.append([name, *cells, f"{ratio:.2f}"])
    table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    return f"Each figure: {' / '.join(VARIANTS)}.\n\n{table}"


def print_table(everything: dict[str, Measured]) -> None:
    """The table: drawn on a terminal, aligned columns in a pipe."""
    body = [row for name, measured in everything.items() for row in rows(name, measured)]
    if sys.stdout.isatty():
        _draw(body)
        return
    lines = [header(), *body]
    widths = [max(len(line[at]) for line in lines) for at in range(len(lines[0]))]
    for line in lines:
        name, variant, *numbers = (cell for cell in line)
        left = [name.ljust(widths[0]), variant.ljust(widths[1])]
        right = [cell.rjust(width) for cell, width in zip(numbers, widths[2:], strict=True)]
        print("  ".join([*left, *right]))


def _draw(body: list[list[str]]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table()
    for at, title in enumerate(header()):
        table.add_column(title, justify="left" if at < 2 else "right")
    for row in body:
        last = row[1] == VARIANTS[-1]
        table.add_row(*row, style="bold" if last else "", end_section=last)
    Console().print(table)


def summary(everything: dict[str, Measured]) -> str:
    """All programs together, as ratios of hlopass to JAX."""
    pairs = [(measured["hlopass"], measured["jax"]) for measured in everything.values()]
    copies = [sum(side.copies for side in sides) for sides in zip(*pairs, strict=True)]
    footprint = geometric_mean(ours.footprint / own.footprint for ours, own in pairs)
    seconds = geometric_mean(ours.seconds / own.seconds for ours, own in pairs)
    return (
        f"{len(pairs)} programs: {copies[0]} copies, JAX's pairing {copies[1]}; geometric means to "
        f"JAX's: footprint {footprint:.3f}, time {seconds:.3f}"
    )


def _progress(text: str) -> None:
    """Shows what is measured, on a terminal."""
    if sys.stderr.isatty():
        print(f"\r{text:40}\r", end="", file=sys.stderr, flush=True)


def main() -> int:
    """Measures, prints, and says what is worse than JAX."""
    parser = argparse.ArgumentParser(description="Measures what each way of pairing costs.")
    parser.add_argument("--only", metavar="NAME", choices=[each.name for each in PROGRAMS])
    parser.add_argument("--markdown", action="store_true", help="print the table as Markdown")
    options = parser.parse_args()
    client = client_of("cpu", 1)
    everything = {}
    for program in PROGRAMS:
        if options.only in (None, program.name):
            _progress(program.name)
            everything[program.name] = measure(program, client)
    _progress("")
    if options.markdown:
        print(markdown(everything), end="\n\n")
    else:
        print_table(everything)
    print(summary(everything))
    found = [line for name, each in everything.items() for line in failures(name, each)]
    for line in found:
        print(line, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
