"""Portable artifacts: StableHLO as VHLO bytecode, which later and earlier versions read."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import jaxlib.mlir.ir as ir

from hlopass.diagnostics import Diagnostic, HlopassError, UsageError, Where
from hlopass.formats import bytecode
from hlopass.formats.said import saying
from hlopass.jaxlib_compat import read_portable, vhlo_versions, write_portable

if TYPE_CHECKING:
    from collections.abc import Callable

    from hlopass.loaded import Loaded

_PRODUCER = re.compile(rb"ML\xefR.{1,9}?StableHLO_v(\d+\.\d+\.\d+)\0", re.DOTALL)
_VERSION = re.compile(r"\d{1,4}\.\d{1,4}\.\d{1,4}")
_VERSIONED = ("builtin", "func", "stablehlo")


def version_of(data: bytes) -> str | None:
    """The version of VHLO that bytecode says it is written in; None where it is no artifact."""
    found = _PRODUCER.match(data[:40])
    return None if found is None else found[1].decode()


def is_vhlo(module: ir.Module) -> bool:
    """Whether a module is an artifact of a time when the producer did not say so."""
    return any(op.operation.name.startswith("vhlo.") for op in module.body.operations)


def read(data: bytes, context: ir.Context, label: str, version: str | None) -> ir.Module:
    """The module in an artifact, as StableHLO. Raises HlopassError where it cannot be read."""
    with saying(context) as said:
        try:
            return read_portable(context, data)
        except ValueError:
            pass
    newest = vhlo_versions()[1]
    if version is not None and _numbers(version) > _numbers(newest):
        message = f"the portable artifact is of version {version}, and this jaxlib reads {newest}"
        hint = f"write it for version {newest} or an older one, or install a newer jaxlib"
        raise HlopassError(Diagnostic("portable-newer", message, Where(label), help=hint))
    message = f"the portable artifact is damaged: {said[0] if said else 'it cannot be read'}"
    raise HlopassError(Diagnostic("module-parse", message, Where(label)))


def check_version(version: str) -> None:
    """Raises UsageError where this jaxlib writes no artifact of that version."""
    oldest, newest = vhlo_versions()
    known = _VERSION.fullmatch(version)
    if not known or not _numbers(oldest) <= _numbers(version) <= _numbers(newest):
        message = f"no portable artifact of version '{version}' can be written"
        hint = f"legal: {oldest} to {newest}"
        raise UsageError(Diagnostic("portable-version", message, help=hint))


def write(program: Loaded, version: str | None, warn: Callable[[Diagnostic], None]) -> bytes:
    """A program as an artifact of a version, the newest by default.

    What VHLO has no words for, such as Shardy's attributes, goes into it as it is, with a
    warning. Raises HlopassError where the version has no words for an operation.
    """
    version = version or vhlo_versions()[1]
    check_version(version)
    data = bytecode.write(program)
    try:
        return _write(program, data, version, mixed=False)
    except HlopassError:
        artifact = _write(program, data, version, mixed=True)
    if program.source.format not in ("portable", "jax-export"):
        foreign = ", ".join(_foreign(program.module)) or "attributes of other dialects"
        message = f"the portable artifact holds what VHLO has no words for, as it is: {foreign}"
        hint = "only readers that know these dialects, as this jaxlib has them, load it"
        where = Where(program.source.label)
        warn(Diagnostic("portable-mixed", message, where, "warning", help=hint))
    return artifact


def _write(program: Loaded, data: bytes, version: str, mixed: bool) -> bytes:
    """Serializing changes a module: it is done to a copy."""
    copy = ir.Module.parse(data, context=program.context)
    with saying(program.context) as said:
        try:
            return write_portable(copy, version, mixed)
        except ValueError:
            pass
    reason = said[0].partition(" that was explicitly")[0] if said else "it cannot be serialized"
    message = f"cannot write a portable artifact of version {version}: {reason}"
    hint = f"a later version may have words for it; the newest is {vhlo_versions()[1]}"
    raise HlopassError(
        Diagnostic("portable-impossible", message, Where(program.source.label), help=hint)
    )


def _foreign(module: ir.Module) -> list[str]:
    """The dialects of a module, other than those that VHLO replaces, sorted."""
    found: set[str] = set()

    def look(operation: ir.Operation) -> ir.WalkResult:
        found.add(operation.name.partition(".")[0])
        return ir.WalkResult.ADVANCE

    module.operation.walk(look)
    if "#sdy." in str(module):
        found.add("sdy")
    return sorted(found.difference(_VERSIONED))


def _numbers(version: str) -> list[int]:
    return [int(part) for part in version.split(".")]
