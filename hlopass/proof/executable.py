"""A compiled program on its devices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hlopass.gspmd import ParsedTiles
from hlopass.proof.evidence import Compiled


@dataclass(frozen=True)
class Executable:
    """A loaded executable, what it tells of itself, and where its blocks lie on its devices.

    `layouts`, `result_layouts`: the dimensions of each argument or result from major to minor,
    where XLA tells.
    """

    loaded: Any
    facts: Compiled
    devices: int
    arguments: Sequence[ParsedTiles]
    results: Sequence[ParsedTiles]
    layouts: Sequence[tuple[int, ...]] | None = None
    result_layouts: Sequence[tuple[int, ...]] | None = None
