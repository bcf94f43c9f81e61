"""The text of `--mesh`: sizes for mesh axes."""

from __future__ import annotations

from hlopass.diagnostics import Diagnostic, UsageError, quoted


def parse_mesh_option(text: str) -> dict[str, int]:
    """`data=4,model=2` as sizes by name. Raises UsageError for another text."""
    sizes: dict[str, int] = {}
    for part in text.split(","):
        name, _, size = part.strip().partition("=")
        if not name or not size.isdecimal() or name in sizes:
            message = f"cannot read {quoted(part)} in --mesh {quoted(text)}"
            hint = "write each axis once with its size, as in data=4,model=2"
            raise UsageError(Diagnostic("usage", message, help=hint))
        sizes[name] = int(size)
    return sizes
