"""The formats that modules are written in, and how people name them. Knows no MLIR."""

from __future__ import annotations

from typing import Literal, NamedTuple, get_args

from hlopass.diagnostics import Diagnostic, UsageError, nearest_or_list, quoted

Format = Literal[
    "text",
    "bytecode",
    "portable",
    "jax-export",
    "hlo",
    "hlo-proto",
    "hlo-pbtxt",
    "hlo-dump",
    "hlo-dump-pbtxt",
    "hlo-snapshot",
    "hlo-snapshot-pbtxt",
    "hlo-unoptimized",
    "hlo-unoptimized-pbtxt",
]
FORMATS: tuple[Format, ...] = get_args(Format)

HLO = tuple(each for each in FORMATS if each.startswith("hlo"))

GZIPPED = ".gz"


class Emit(NamedTuple):
    """What to write: a format, of a version where it has any (VHLO's), gzipped or not."""

    format: Format
    version: str | None = None
    gzip: bool = False


def emit_of(written: str) -> Emit:
    """What `--emit` names: FORMAT[=VERSION][.gz]. Raises UsageError."""
    plain = written.removesuffix(GZIPPED)
    name, _, version = plain.partition("=")
    found = next((each for each in FORMATS if each == name), None)
    if found is None:
        message = f"no format is called {quoted(name)}"
        hint = nearest_or_list(name, FORMATS)
        raise UsageError(Diagnostic("emit-unknown", message, help=hint))
    if plain != name and (found != "portable" or not version):
        message = f"{quoted(plain)}: only portable artifacts have versions, as portable=1.0.0"
        raise UsageError(Diagnostic("emit-version", message))
    return Emit(found, version or None, plain != written)
