"""The graph of a program that pairing works on: values, and what operations do to buffers.

Calls and branches are written out; a loop is one node. Knows no MLIR: `dataflow.py` makes
a graph of a program, tests write their own.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import IntEnum
from typing import NamedTuple


class Effect(IntEnum):
    """What an operation does with the buffers of its operands.

    `IDENTITY`: the results are the operands, one for one. `RESHAPE`: the result is the
    first operand in another shape.

    XLA fuses the next six. `ELEMENTWISE`: each element of the result needs the elements at
    the same place. `INDEXED`: it needs elements at other places (slice, reverse). `TRANSPOSE`:
    as INDEXED, and XLA can also let each user read the operand in another layout. `BROADCAST`:
    as INDEXED, of a smaller operand. `COSTLY_ELEMENTWISE` and `COSTLY_INDEXED` (reduce,
    gather): as those, but XLA never computes them twice.

    `INSERT`: the result is the first operand, changed in part, and XLA fuses into it what it
    needs (dynamic_update_slice). `UPDATE`: each result is the operand at the same position,
    changed (scatter, a loop's carry). `CHOICE`: the result is one of its operands, and the
    first of them says which (a conditional). `OPAQUE`: anything else, which reads its
    operands and writes a buffer of its own.
    """

    IDENTITY = 0
    RESHAPE = 1
    ELEMENTWISE = 2
    INDEXED = 3
    TRANSPOSE = 4
    BROADCAST = 5
    COSTLY_ELEMENTWISE = 6
    COSTLY_INDEXED = 7
    INSERT = 8
    UPDATE = 9
    CHOICE = 10
    OPAQUE = 11


class Node(NamedTuple):
    """One operation.

    `operands` and `first`, `size` number values: results are `first` to
    `first + size - 1`, and later nodes have higher ones. `after` are values that exist before
    it starts, if anything needs them, though it does not read them.
    """

    name: str
    effect: Effect
    operands: tuple[int, ...]
    first: int
    size: int = 1
    after: tuple[int, ...] = ()


def _nowhere(_: int) -> str | None:
    return None


@dataclass
class Graph:
    """A program in order of execution. Values 0 to `arguments` - 1 are its arguments.

    `results` are the values that it returns. `kept` are nodes, by position in `nodes`, that
    run though nothing needs their results. `place` says where a node stands in the source.
    """

    arguments: int
    nodes: list[Node] = field(default_factory=list)
    results: list[int] = field(default_factory=list)
    values: int = 0
    kept: set[int] = field(default_factory=set)
    place: Callable[[int], str | None] = _nowhere

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

    def writer(self, value: int) -> int:
        """The position of the node that a value is a result of; -1 for an argument."""
        return bisect_right(self.nodes, value, key=_first) - 1


def _first(node: Node) -> int:
    return node.first
