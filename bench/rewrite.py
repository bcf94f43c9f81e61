"""Times `hlopass rewrite` on a train step of 20,000 lines, as a whole process.

    python bench/rewrite.py

It is held against a bare script that imports the bindings, parses the same file and prints
it. Runs alternate; the figures are ratios of medians. `--pairing order` makes no data flow
analysis: the rest of hlopass is what it shows.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parent.parent
ROUNDS = 11

BARE = """
import sys
from jaxlib.mlir import ir
from jaxlib.mlir._mlir_libs import _jax_mlir_ext
from jaxlib.mlir.dialects import chlo, func, mhlo, sdy, stablehlo

context = ir.Context()
registry = ir.DialectRegistry()
_jax_mlir_ext.register_dialects(registry)
context.append_dialect_registry(registry)
stablehlo.register_dialect(context)
sdy.register_dialect(context)
mhlo.register_mhlo_dialect(context)
chlo.register_dialect(context)
context.load_all_available_dialects()
with context:
    with open(sys.argv[1]) as file:
        module = ir.Module.parse(file.read())
    with open(sys.argv[2], "w") as file:
        file.write(module.operation.get_asm(enable_debug_info=True))
"""


def large_program() -> str:
    """The text of a train step of about 20,000 lines."""
    sys.path.insert(0, str(ROOT / "testdata" / "frontends"))
    from generate import large_train_step

    return str(large_train_step())


def seconds(command: list[str]) -> float:
    """Wall time of a command."""
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    start = time.perf_counter()
    subprocess.run(command, check=True, stderr=subprocess.DEVNULL, env=environment)
    return time.perf_counter() - start


def main() -> None:
    """Prints the median times and their ratios."""
    subprocess.run([sys.executable, "-m", "compileall", "-q", str(ROOT / "hlopass")], check=False)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "in.mlir").write_text(large_program())
        (folder / "bare.py").write_text(BARE)
        (folder / "m.json").write_text(json.dumps({"donate": ["state*"]}))
        files = [str(folder / "in.mlir"), str(folder / "out.mlir")]
        ours = [sys.executable, "-m", "hlopass", "rewrite", files[0], "-o", files[1]]
        ours += ["--donate", str(folder / "m.json")]
        commands = {
            "bare script": [sys.executable, str(folder / "bare.py"), *files],
            "hlopass, by data flow": ours,
            "hlopass, in order": [*ours, "--pairing", "order"],
        }
        taken: dict[str, list[float]] = {label: [] for label in commands}
        for _ in range(ROUNDS):
            for label, command in commands.items():
                taken[label].append(seconds(command))
    bare = statistics.median(taken["bare script"])
    for label, times in taken.items():
        median = statistics.median(times)
        print(f"{label:24} {median * 1e3:7.0f} ms  {median / bare:5.2f} of the bare script")


if __name__ == "__main__":
    main()
