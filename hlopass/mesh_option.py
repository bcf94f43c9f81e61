"""Sizes for mesh axes, as users hand them over."""

from __future__ import annotations

import re
from collections.abc import Mapping

from hlopass.diagnostics import Diagnostic, UsageError, quoted

Mesh = Mapping[str, int] | str
"""Sizes by axis: `{"data": 4, "model": 2}`, or as `--mesh` has them, "data=4,model=2"."""

_INTEGER = re.compile(r"-?[0-9]{1,15}")


def mesh_sizes(mesh: Mesh) -> dict[str, int]:
    """Sizes by name. Raises UsageError for what is none.

    Whether the axes are those of the spec, and the sizes legal, is found when it is bound.
    """
    if isinstance(mesh, str):
        return _parse(mesh)
    if not isinstance(mesh, Mapping):
        message = f"{mesh!r} gives mesh axes no sizes"
        hint = 'legal: {"data": 4, "model": 2} or "data=4,model=2"; devices=8 for their number'
        raise UsageError(Diagnostic("usage", message, help=hint))
    return dict(mesh)


def _parse(text: str) -> dict[str, int]:
    sizes: dict[str, int] = {}
    for part in text.split(","):
        axis, equals, size = (word.strip() for word in part.rpartition("="))
        if not equals or not axis:
            raise _wrong(text, f"{quoted(part.strip())} is no axis with its size")
        if not _INTEGER.fullmatch(size):
            raise _wrong(text, f"{quoted(size)} is no size for axis {quoted(axis)}")
        if axis in sizes:
            raise _wrong(text, f"axis {quoted(axis)} has two sizes, {sizes[axis]} and {size}")
        sizes[axis] = int(size)
    return sizes


def _wrong(text: str, why: str) -> UsageError:
    message = f"cannot read mesh {quoted(text)}: {why}"
    return UsageError(Diagnostic("usage", message, help="it is written data=4,model=2"))
