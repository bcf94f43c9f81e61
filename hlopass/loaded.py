"""A module in memory, and where it came from: what formats read and write."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING

import jaxlib.mlir.ir as ir

from hlopass.emit import Format

if TYPE_CHECKING:
    from hlopass.hlo_origin import Origin


@dataclass(frozen=True)
class Source:
    """Where a module came from: `label` is its file name in diagnostics.

    `version`: that of a portable artifact. `gzip`: it came packed. `origin`: the HLO module.
    `blob`: the `jax.export` blob around the artifact.
    """

    label: str
    format: Format
    text: str | None = None
    has_locations: bool = True
    version: str | None = None
    gzip: bool = False
    origin: Origin | None = None
    blob: bytes | None = None

    def line(self, number: int) -> str:
        """A line of the text, counting from 1; empty where there is none."""
        return self._lines[number - 1] if 0 < number <= len(self._lines) else ""

    @functools.cached_property
    def _lines(self) -> list[str]:
        return (self.text or "").split("\n")


class Loaded:
    """A module in memory, and where it came from."""

    def __init__(self, module: ir.Module, source: Source) -> None:
        self.module = module
        self.source = source

    @property
    def context(self) -> ir.Context:
        """The MLIR context of the module."""
        return self.module.context
