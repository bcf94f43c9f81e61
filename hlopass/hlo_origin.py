"""The HLO module that a program was imported from, and where its values stand in it.

The import flattens tuples: argument 3 of the program may be `(0, {3})`, the fourth leaf of
parameter 0. Knows no MLIR.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

Path = tuple[int, ...]
"""Where a leaf stands in a shape: empty where the shape is no tuple."""


class Slot(NamedTuple):
    """A leaf of a parameter."""

    parameter: int
    path: Path

    def __str__(self) -> str:
        return f"({self.parameter}, {shown(self.path)})"


class Alias(NamedTuple):
    """A leaf of the result that is written over a leaf of a parameter."""

    output: Path
    slot: Slot
    kind: Literal["may-alias", "must-alias"] = "may-alias"


class Donations(NamedTuple):
    """What an HLO module says of donation: `input_output_alias` and `buffer_donor`."""

    aliases: tuple[Alias, ...] = ()
    donors: tuple[Slot, ...] = ()


class Origin(NamedTuple):
    """An HLO module as it came; its leaves in the order of the program's values.

    `shardings` are those of arguments and results as the import wrote them. `lost` names what
    the module says and no program of StableHLO can.
    """

    data: bytes
    slots: tuple[Slot, ...]
    outputs: tuple[Path, ...]
    donations: Donations
    shardings: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()


def shown(path: Path) -> str:
    """A path as XLA writes it: `{1, 0}`."""
    return "{" + ", ".join(map(str, path)) + "}"
