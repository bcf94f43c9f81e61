"""Random meshes, shapes and specs, and what XLA makes of those that hlopass accepts.

    python tests/random_specs.py shardy|gspmd SEED COUNT

A child process with 8 CPU devices. Every line that it prints is JSON: a program's spec and
shapes, the code of the error where hlopass refuses, and for every argument and result what was
asked and what the compiled program has, as tiles over devices.
"""

from __future__ import annotations

import json
import random
import sys
from typing import Any

from jax_sharded import compiled

SIZES = (1, 2, 3, 4, 6, 8, 12)


def mesh(choose: random.Random) -> dict[str, int]:
    """One to three axes, of at most 8 devices together."""
    found: dict[str, int] = {}
    room = 8
    for name in "xyz"[: choose.randint(1, 3)]:
        found[name] = choose.choice([size for size in (1, 2, 3, 4, 8) if size <= room])
        room //= found[name]
    return found


def dims(choose: random.Random, rank: int, axes: list[str]) -> list[Any]:
    """The entries of a tensor, of distinct axes mostly; now and then one too many."""
    left = choose.sample(axes, len(axes))
    found: list[Any] = []
    for _ in range(rank + (choose.random() < 0.05)):
        taken = [left.pop() for _ in range(choose.choice((0, 0, 1, 1, 2))) if left]
        entry: Any = taken if len(taken) != 1 else taken[0]
        entry = entry or None
        if choose.random() < 0.1:
            entry = {"axes": entry, "open": True} if entry else "?"
        found.append(entry)
    if choose.random() < 0.03:
        found = [axes[0], axes[0]]
    return found


def question(choose: random.Random, dialect: str) -> tuple[dict[str, Any], list[list[int]]]:
    """A spec and the shapes of a program's arguments; results have the same ones."""
    sizes = mesh(choose)
    shapes = [
        [choose.choice(SIZES) for _ in range(choose.randint(0, 3))]
        for _ in range(choose.randint(1, 3))
    ]
    axes = list(sizes)
    args = {str(i): dims(choose, len(shape), axes) for i, shape in enumerate(shapes)}
    results: dict[str, Any] = {"*": "follow"}
    if choose.random() < 0.5:
        results = {str(i): dims(choose, len(shape), axes) for i, shape in enumerate(shapes)}
    spec = {"version": 1, "mesh": sizes, "dialect": dialect, "args": args, "results": results}
    return spec, shapes


def program(shapes: list[list[int]], aliases: bool) -> str:
    """A module that doubles each of its arguments."""
    types = [f"tensor<{'x'.join([*map(str, shape), 'f32'])}>" for shape in shapes]
    alias = " {{tf.aliasing_output = {} : i32}}" if aliases else ""
    arguments = ", ".join(f"%a{i}: {t}{alias.format(i)}" for i, t in enumerate(types))
    body = "\n".join(f"%r{i} = stablehlo.add %a{i}, %a{i} : {t}" for i, t in enumerate(types))
    results = ", ".join(f"%r{i}" for i in range(len(types)))
    listed = ", ".join(types)
    return f"func.func @main({arguments}) -> ({listed}) {{\n{body}\nreturn {results} : {listed}\n}}"


def tiles(text: str, rank: int) -> Any:
    from hlopass.layout import parse_gspmd

    found = parse_gspmd(text, rank)
    return "replicated" if found.is_replicated else [found.tile, found.blocks, found.problem]


def asked_and_obtained(rewritten: Any, executable: Any) -> list[dict[str, Any]]:
    """Of each argument and result that carries a sharding, what it says and what came of it."""
    from jaxlib import xla_client

    source = rewritten.program
    found = []
    for values, carried, protos in (
        (source.arguments, source.argument_shardings, executable.get_parameter_shardings()),
        (source.results, source.result_shardings, executable.get_output_shardings()),
    ):
        texts = [str(xla_client.HloSharding.from_proto(proto)) for proto in protos or ()]
        for value in (value for value in values if value.index in carried):
            asked, rank = carried[value.index], len(value.shape)
            obtained = tiles(texts[value.index], rank) if texts else "replicated"
            facts = {"asked": as_written(asked, source.meshes, rank), "obtained": obtained}
            found.append(facts | {"open": asked.open, "uneven": bool(asked.uneven)})
    return found


def as_written(asked: Any, meshes: Any, rank: int) -> Any:
    """The tiles that an attribute says, whether or not they divide the tensor."""
    from hlopass.layout import TensorSharding, parse_sdy

    if asked.dialect == "gspmd":
        return tiles(asked.text, rank)
    parsed = parse_sdy(asked.text)
    assert parsed is not None
    sharding = TensorSharding.from_sdy(parsed, meshes[parsed.mesh_name])
    assert sharding is not None
    return "replicated" if sharding.is_replicated else tiles(sharding.to_gspmd(), rank)


def answer(choose: random.Random, dialect: str) -> dict[str, Any]:
    """One random program: refused with codes, or compiled."""
    import hlopass

    spec, shapes = question(choose, dialect)
    text = program(shapes, choose.random() < 0.5)
    found: dict[str, Any] = {"spec": spec, "shapes": shapes, "codes": []}
    try:
        rewritten = hlopass.rewrite(text, shard=spec)
    except hlopass.HlopassError as error:
        found["codes"] = [each.code for each in error.diagnostics if each.severity == "error"]
        if set(found["codes"]) != {"shard-uneven"}:
            return found
        try:
            rewritten = hlopass.rewrite(text, shard=spec | {"allow_uneven": True})
        except hlopass.HlopassError as error:
            found["codes"] += [each.code for each in error.diagnostics]
            return found
    found["warnings"] = [each.code for each in rewritten.diagnostics]
    devices = 1
    for size in spec["mesh"].values():
        devices *= size
    try:
        found["values"] = asked_and_obtained(rewritten, compiled(rewritten, dialect, devices))
    except Exception as error:
        found["failure"] = f"{type(error).__name__}: {error}"
    return found


def main() -> None:
    """Prints the answers."""
    import jax

    jax.config.update("jax_num_cpu_devices", 8)
    jax.config.update("jax_platforms", "cpu")
    dialect, seed, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    for number in range(count):
        print(json.dumps(answer(random.Random(seed * 100_000 + number), dialect)), flush=True)


if __name__ == "__main__":
    main()
