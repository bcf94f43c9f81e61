"""The text of `--mesh`: sizes for mesh axes."""

from __future__ import annotations


def parse_mesh_option(text: str) -> dict[str, int]:
    """`data=4,model=2` as sizes by name."""
    return {name: int(size) for name, size in (part.split("=") for part in text.split(","))}
