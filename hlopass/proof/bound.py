"""An input for each argument of a program: its type, and where its values come from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from hlopass.diagnostics import Diagnostic, HlopassError, Where
from hlopass.gspmd import ParsedTiles
from hlopass.values import Value

_SHOWN = 8


class Lies(NamedTuple):
    """How a tensor lies on devices: its blocks, the order of its dimensions, and how many.

    None stands for whole tensors, and for the usual order.
    """

    tiles: ParsedTiles | None
    order: tuple[int, ...] | None
    devices: int


@dataclass(frozen=True)
class Resident:
    """A tensor that is on the devices already: how it lies there, and how to get its elements.

    `gone`: why it is there no more.
    """

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    there: tuple[Lies, Any] | None
    open: Callable[[], Any]
    gone: str | None = None


@dataclass(frozen=True)
class Input:
    """What an argument gets: a type, and how to open its values; None for a placeholder.

    `said`: where it comes from. `given`: by a person, rather than made up. `whole`: it cannot be
    read in parts. `there`: it is on the devices already.
    """

    argument: Value
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    said: str
    open: Callable[[], Any] | None
    given: bool = False
    whole: bool = False
    there: tuple[Lies, Any] | None = None

    @property
    def bytes(self) -> int:
        """The bytes of all its elements, as numpy holds them."""
        return self.dtype.itemsize * int(np.prod(self.shape, dtype=object))


@dataclass
class Bound:
    """An input for each argument, in their order, and what is to be said of them."""

    inputs: list[Input] = field(default_factory=list)
    warnings: list[Diagnostic] = field(default_factory=list)


def without_data(found: Sequence[Input], label: str) -> None:
    """Raises HlopassError where placeholders are left, which it lists."""
    missing = [each.argument for each in found if each.open is None]
    if not missing:
        return
    verb = "input has" if len(missing) == 1 else "inputs have"
    message = f"{len(missing)} {verb} no data, and the program cannot run"
    notes = [f"{each} is {each.described()}" for each in missing[:_SHOWN]]
    if len(missing) > _SHOWN:
        notes.append(f"and {len(missing) - _SHOWN} more")
    hint = "give them data, or compile only"
    raise HlopassError(
        Diagnostic("input-missing", message, Where(label), notes=tuple(notes), help=hint)
    )
