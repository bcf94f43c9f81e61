"""Runs hlopass over a folder of modules that frontends wrote, and says what became of each.

    python bench/corpus.py ../shared/corpus [--jobs 2] [--only WORD] [--no-compile]

INDEX.tsv in the folder names the files and their frontends. Each module of each file is
loaded, inspected, its donatable arguments donated, its first argument sharded where a mesh of
two fits, written in its own format, read again, compared with what came, and compiled. Every
file is worked on in a process of its own, which may die.
"""

from __future__ import annotations

import argparse
import csv
import json
import re
import subprocess
import sys
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

HOME = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(HOME), str(HOME / "tests")]

STEPS = ("loaded", "inspected", "rewritten", "faithful", "sharded", "compiled")
LIMIT = 300
"""Seconds for one file."""


def main() -> None:
    options = _options()
    if options.one:
        print(json.dumps(_modules(options.folder, not options.no_compile)))
        return
    index = options.folder / "INDEX.tsv"
    if not index.exists():
        print(f"skipped: there is no corpus at {options.folder}")
        return
    with index.open(newline="") as file:
        rows = [row for row in csv.DictReader(file, delimiter="\t") if options.only in row["file"]]
    with ThreadPoolExecutor(options.jobs) as pool:
        found = list(pool.map(lambda row: _in_child(row["file"], options), rows))
    _print(rows, found)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Runs hlopass over a folder of modules.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", default="", metavar="WORD")
    parser.add_argument("--no-compile", action="store_true")
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args()


def _in_child(name: str, options: argparse.Namespace) -> list[dict[str, str]]:
    """What each step came to for each module of a file; "ok" or a reason."""
    command = [sys.executable, __file__, "--one", str(options.folder / name)]
    command += ["--no-compile"] * options.no_compile
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, check=False)
    except subprocess.TimeoutExpired:
        return [{"loaded": "time-limit"}]
    if done.returncode < 0:
        return [{"loaded": f"died with signal {-done.returncode}"}]
    if done.returncode:
        return [{"loaded": f"TRACEBACK {done.stderr.strip().splitlines()[-1:]}"}]
    answer: list[dict[str, str]] = json.loads(done.stdout.splitlines()[-1])
    return answer


def _modules(path: Path, compiles: bool) -> list[dict[str, str]]:
    import hlopass

    data = path.read_bytes()
    try:
        hlopass.inspect(data, label=path.name)
    except hlopass.HlopassError as error:
        if error.diagnostics[0].code == "module-several":
            return [_steps(part, compiles) for part in hlopass.split(data)]
    return [_steps(data, compiles)]


def _steps(data: bytes, compiles: bool) -> dict[str, str]:
    """Goes from step to step until one fails; sharding and compiling stop nothing."""
    import hlopass

    found: dict[str, str] = {}
    try:
        step = "loaded"
        program = _program(data)
        found[step], step = "ok", "inspected"
        hlopass.inspect(data)
        found[step], step = "ok", "rewritten"
        rewritten = hlopass.rewrite(data, donate=_donatable(program))
        after = rewritten.data()
        found[step], step = "ok", "faithful"
        found[step] = _faithful(data, after)
    except hlopass.HlopassError as error:
        found[step] = _reason(error)
        return found
    found["sharded"] = _sharded(data, program)
    if compiles:
        found["compiled"] = _compiled(after)
    return found


def _program(data: bytes) -> Any:
    from hlopass import formats

    return formats.read(data, "m")


def _donatable(program: Any) -> list[dict[str, Any]]:
    return [
        {"arg": value.index, "optional": True}
        for value in program.arguments
        if value.obstacle is None and value.internal is None
    ]


def _faithful(before: bytes, after: bytes) -> str:
    """Whether nothing but donation differs; of HLO, in the module itself."""
    from hlopass.fidelity import skeleton

    sharded = _program(before).is_sharded
    if skeleton(before, sharding=sharded) != skeleton(after, sharding=sharded):
        return "another program"
    if _bare(before) != _bare(after):
        return "another HLO module"
    return "ok"


def _bare(data: bytes) -> Any:
    """An HLO module without its donations; None for other formats."""
    source = _program(data).source
    if source.origin is None:
        return None
    from hlopass.formats import hlo_proto, hlo_text
    from hlopass.hlo_origin import Donations

    if source.format == "hlo":
        return hlo_text.with_donations(source.origin.data.decode(), Donations())
    as_text = hlo_proto.FORMATS[source.format][1]
    raw = source.origin.data.decode() if as_text else source.origin.data
    message = hlo_proto.parse(raw, "m")
    for field in ("input_output_alias", "buffer_donor"):
        hlo_proto.module_of(message).ClearField(field)
    return hlo_proto.serialized(message, "m")


def _sharded(data: bytes, program: Any) -> str:
    import hlopass

    fitting = [a for a in program.arguments if a.shape and a.shape[0] and a.shape[0] % 2 == 0]
    if not fitting:
        return "no argument that two devices divide"
    if program.is_sharded:
        return "sharded already"
    spec = {"mesh": {"x": 2}, "args": {str(fitting[0].index): ["x", "..."]}}
    try:
        hlopass.rewrite(data, shard=spec, existing="keep").data("text")
    except hlopass.HlopassError as error:
        return _reason(error)
    return "ok"


def _compiled(after: bytes) -> str:
    import hlopass

    try:
        proof = hlopass.verify(after, mode="compile", require="none", timeout=120)
    except hlopass.HlopassError as error:
        return _reason(error)
    tied = [each for each in proof.donations if each.kind == "alias"]
    return "ok" if all(each.evidence.aliased for each in tied) else "another alias table"


def _reason(error: Any) -> str:
    first = next(each for each in error.diagnostics if each.severity == "error")
    return f"[{first.code}] {first.message}"


def _print(rows: list[dict[str, str]], found: list[list[dict[str, str]]]) -> None:
    totals: dict[str, Counter[str]] = defaultdict(Counter)
    reasons: dict[str, Counter[str]] = defaultdict(Counter)
    examples: dict[tuple[str, str], str] = {}
    for row, modules in zip(rows, found, strict=True):
        frontend = re.sub(r"^jax\.export \d{4}-.*", "jax.export, artifacts", row["frontend"])
        for kind in (frontend, "all"):
            totals[kind]["files"] += 1
            totals[kind]["modules"] += len(modules)
            for step in STEPS:
                totals[kind][step] += sum(each.get(step) == "ok" for each in modules)
        for module in modules:
            for step, reason in module.items():
                if reason != "ok":
                    key = reason.partition("]")[0].lstrip("[") if reason[:1] == "[" else reason
                    reasons[step][key] += 1
                    examples.setdefault((step, key), f"{row['file']}: {reason}"[:220])
    heads = ("files", "modules", *STEPS)
    print(f"| frontend | {' | '.join(heads)} |")
    print("| --- |" + " ---: |" * len(heads))
    for kind in sorted(totals, key=lambda each: (each == "all", each)):
        print(f"| {kind} | {' | '.join(str(totals[kind][head]) for head in heads)} |")
    for step in STEPS:
        if reasons[step]:
            print(f"\nnot {step}:")
        for key, count in reasons[step].most_common():
            print(f"  {count:4} {key}\n       {examples[step, key]}")


if __name__ == "__main__":
    main()
