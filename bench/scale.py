"""Times pairing on a program of 300,000 operations with 1,000 donated arguments.

    python bench/scale.py

The analysis and the assignment are held against parsing the same text, in one process. The
program is 1,000 chains of updates whose results come back in another order.
"""

from __future__ import annotations

import gc
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

import jaxlib.mlir.ir as ir

from hlopass import formats
from hlopass.dataflow import analyse
from hlopass.jaxlib_compat import new_context
from hlopass.pairing import FlowPairing

ARGUMENTS = 1000
OPERATIONS = 300_000


def program_text(arguments: int, operations: int) -> str:
    """Chains of `operations / arguments` operations, each over its own argument."""
    type_ = "tensor<16x16xf32>"
    steps = operations // arguments
    lines = []
    for number in range(arguments):
        value = f"%a{number}"
        for step in range(steps):
            kind = ("multiply", "add", "tanh", "subtract")[step % 4]
            other = "" if kind == "tanh" else f", %a{number}" if step == 1 else f", {value}"
            name = f"%v{number}_{step}"
            lines.append(f"    {name} = stablehlo.{kind} {value}{other} : {type_}")
            value = name
    returned = ", ".join(f"%v{(n * 7 + 3) % arguments}_{steps - 1}" for n in range(arguments))
    signature = ", ".join(f"%a{n}: {type_}" for n in range(arguments))
    types = ", ".join([type_] * arguments)
    body = "\n".join(lines)
    return (
        f"func.func @main({signature}) -> ({types}) {{\n{body}\n    return {returned} : {types}\n}}"
    )


def main() -> None:
    """Prints the times and their ratio; exits 1 where it is 3 or more."""
    text = program_text(ARGUMENTS, OPERATIONS)
    with new_context():
        start = time.perf_counter()
        ir.Module.parse(text)
        parsing = time.perf_counter() - start
    program = formats.read(text, "<scale>")
    gc.disable()
    start = time.perf_counter()
    reuse = analyse(program)
    analysis = time.perf_counter() - start
    start = time.perf_counter()
    pairs = FlowPairing(reuse)(program.arguments, program.results)
    assignment = time.perf_counter() - start
    ratio = (analysis + assignment) / parsing
    free = sum(reuse.conflict(a, r) is None for a, r in pairs.results.items())
    print(f"parse {parsing:.2f} s, analysis {analysis:.2f} s, assignment {assignment:.2f} s")
    print(f"{len(pairs.results)} pairs, {free} of them free; {ratio:.2f} times the time to parse")
    sys.exit(ratio >= 3)


if __name__ == "__main__":
    main()
