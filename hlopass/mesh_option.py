"""The text of `--mesh`: sizes for mesh axes."""

from __future__ import annotations

import re

from hlopass.diagnostics import Diagnostic, UsageError, quoted

_INTEGER = re.compile(r"-?[0-9]{1,15}")


def parse_mesh_option(text: str) -> dict[str, int]:
    """`data=4,model=2` as sizes by name. Raises UsageError for another text.

    Whether the axes are those of the spec, and the sizes legal, is found when it is bound.
    """
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
    message = f"cannot read --mesh {quoted(text)}: {why}"
    return UsageError(Diagnostic("usage", message, help="it is written data=4,model=2"))
