"""Options and arguments that several commands have."""

from __future__ import annotations

import re
from collections.abc import Callable

import click

from hlopass import guard

IN = click.argument("source", metavar="IN")
ENTRY = click.option("--entry", metavar="NAME", help="The function to work on; main by default.")
REPORT = click.option("--report", metavar="R.json", help="Write a report as JSON.")
SEED = click.option("--seed", default=0, show_default=True, help="Seed of the made-up inputs.")
INPUTS = click.option(
    "--inputs",
    multiple=True,
    metavar="[NAME=]SOURCE",
    help="Values of the arguments: a file .npy, .npz or .safetensors, FILE#TENSOR, a folder, or "
    "zeros, placeholder, made-up (the default); by name or index. Repeatable.",
)
RUNS = click.option(
    "--runs",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    metavar="N",
    help="How often to run with donation.",
)
AGAINST = click.option(
    "--against",
    metavar="BASE",
    help="Compare with another program, or with the report (.json) of an earlier proof.",
)
TIMEOUT = click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    default=600,
    show_default=True,
    metavar="SECONDS",
    help="Time limit for all of it.",
)


def LIMITS(command: Callable[..., None]) -> Callable[..., None]:  # noqa: N802
    """The options that limit what a command takes."""
    memory = click.option(
        "--max-memory",
        callback=_limit_memory,
        expose_value=False,
        metavar="SIZE",
        help="Limit of memory, as in 8G; more ends the command.",
    )
    return TIMEOUT(memory(command))


def _limit_memory(_: click.Context, option: click.Parameter, size: str | None) -> None:
    if size is None:
        return
    found = re.fullmatch(r"([0-9]{1,12})([KMGT]?)(?:i?B)?", size)
    if found is None or not int(found[1]):
        raise click.BadParameter(f"'{size}' is no size; legal: 800M, 8G", param=option)
    guard.limit_memory(int(found[1]) << 10 * " KMGT".index(found[2] or " "))


DONATE = click.option(
    "--donate", metavar="M", help="Donation manifest: JSON, or TOML or YAML by suffix."
)
SPEC = click.option("--shard", metavar="S", help="Sharding spec: YAML, TOML or JSON by suffix.")
EXISTING = click.option(
    "--existing",
    type=click.Choice(["error", "replace", "keep"]),
    default="error",
    show_default=True,
    help="What becomes of shardings that IN has and the spec wants otherwise.",
)

PLATFORM = click.option(
    "--platform",
    default="cpu",
    show_default=True,
    metavar="NAME",
    help="Where to compile and run: cpu, or one whose plugin for JAX is installed (cuda, tpu).",
)
TOLERANCE = click.option(
    "--tolerance",
    type=click.FloatRange(min=0),
    metavar="X",
    help="How far results on several devices may be from those on one, or from BASE's: "
    "a share of the largest element; by default the square root of the type's epsilon.",
)
EMIT = click.option(
    "--emit",
    metavar="FORMAT[=VERSION][.gz]",
    help="As in text, hlo-proto or portable=1.0.0.gz; as IN is by default.",
)
SPLIT = click.option(
    "--split-input-file",
    "split",
    is_flag=True,
    help="Take each module of a text by itself: parted by // ----- lines, or several HloModules.",
)


def MESH(command: Callable[..., None]) -> Callable[..., None]:  # noqa: N802
    """The options that bind a spec to a mesh."""
    sizes = click.option("--mesh", metavar="A=4,B=2", help="Sizes for the mesh axes of the spec.")
    count = click.option(
        "--devices",
        type=click.IntRange(min=1),
        metavar="N",
        help="Number of devices; gives one mesh axis its size.",
    )
    return sizes(count(command))


def REQUIREMENTS(command: Callable[..., None]) -> Callable[..., None]:  # noqa: N802
    """The options of what a proof must show."""
    copies = click.option(
        "--max-copies", type=click.IntRange(min=0), metavar="N", help="Copies that may be added."
    )
    temp = click.option(
        "--max-temp-bytes",
        type=click.IntRange(min=0),
        metavar="N",
        help="Temporary memory allowed.",
    )
    share = click.option(
        "--require",
        default="all",
        show_default=True,
        metavar="all|none|N%",
        help="Share of the donated bytes that must be reused; donors do not count.",
    )
    return share(copies(temp(command)))
