"""The graph of a program that pairing works on: values, and what operations do to buffers.

Calls and branches are written out; a loop is one node. Knows no MLIR: `dataflow.py` makes
a graph of a program, tests write their own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import IntEnum
from typing import NamedTuple


class Effect(IntEnum):
    """What an operation does with the buffers of its operands.

    `IDENTITY`: the results are the operands, one for one. `RESHAPE`: the result is the
    first operand in another shape. `ELEMENTWISE`: each element of the result needs the
    elements at the same place. `INDEXED`: it needs elements at other places, and XLA fuses
    it into its users (slice, transpose, gather). `UPDATE`: the result is the operand at
    the same position, changed in part (dynamic_update_slice, scatter, a loop's carry).
    `CHOICE`: the result is one of its operands (a conditional). `OPAQUE`: anything else,
    which reads its operands and writes a buffer of its own.
    """

    IDENTITY = 0
    RESHAPE = 1
    ELEMENTWISE = 2
    INDEXED = 3
    UPDATE = 4
    CHOICE = 5
    OPAQUE = 6


class Node(NamedTuple):
    """One operation.

    `operands` and `first`, `size` number values: results are `first` to
    `first + size - 1`. For an UPDATE, result `i` is operand `i`, changed. `after` are
    values that must exist before it starts though it does not read them.
    """

    name: str
    effect: Effect
    operands: tuple[int, ...]
    first: int
    size: int = 1
    after: tuple[int, ...] = ()


@dataclass
class Graph:
    """A program in order of execution. Values 0 to `arguments` - 1 are its arguments.

    `results` are the values that it returns. `place` says where a node, by position in
    `nodes`, stands in the source.
    """

    arguments: int
    nodes: list[Node] = field(default_factory=list)
    results: list[int] = field(default_factory=list)
    values: int = 0
    place: Callable[[int], str | None] = lambda _: None

    def __post_init__(self) -> None:
        self.values = max(self.values, self.arguments)

    def add(
        self,
        name: str,
        effect: Effect,
        operands: tuple[int, ...],
        count: int = 1,
        after: tuple[int, ...] = (),
    ) -> int:
        """Appends a node; returns the number of its first result."""
        first = self.values
        self.nodes.append(Node(name, effect, operands, first, count, after))
        self.values += count
        return first
