"""Graphs made by hand, without a program, for the tests of pairing."""

from __future__ import annotations

from collections.abc import Callable

from hlopass.flow import Effect, Graph
from hlopass.reuse import Reuse

Below = Callable[[int], int]

TYPE = "tensor<4xf32>"


class Builder:
    """Writes a graph: each method adds an operation and returns its value."""

    def __init__(self, arguments: int) -> None:
        self.graph = Graph(arguments, place=lambda position: f"line {position}")

    def __call__(
        self, name: str, effect: Effect, *operands: int, count: int = 1, after: tuple[int, ...] = ()
    ) -> int:
        return self.graph.add(name, effect, operands, count, after)

    def elementwise(self, *operands: int) -> int:
        """A cheap operation, element by element."""
        return self("add", Effect.ELEMENTWISE, *operands)

    def costly(self, *operands: int) -> int:
        """An operation that XLA does not compute twice."""
        return self("tanh", Effect.COSTLY_ELEMENTWISE, *operands)

    def indexed(self, *operands: int) -> int:
        """An operation that needs elements at other places."""
        return self("reverse", Effect.INDEXED, *operands)

    def transpose(self, operand: int) -> int:
        """The same in another layout."""
        return self("transpose", Effect.TRANSPOSE, operand)

    def reduced(self, *operands: int) -> int:
        """A smaller value of all elements."""
        return self("reduce", Effect.COSTLY_INDEXED, *operands)

    def broadcast(self, *operands: int) -> int:
        """A larger value of the same elements."""
        return self("broadcast_in_dim", Effect.BROADCAST, *operands)

    def reshape(self, operand: int) -> int:
        """The same in another shape."""
        return self("reshape", Effect.RESHAPE, operand)

    def insert(self, *operands: int) -> int:
        """The first operand with a part of it replaced."""
        return self("dynamic_update_slice", Effect.INSERT, *operands)

    def update(self, *operands: int, count: int = 1) -> int:
        """The first operands, changed in place; the others are read."""
        return self("while", Effect.UPDATE, *operands, count=count)

    def choice(self, which: int, *branches: int, after: tuple[int, ...] = ()) -> int:
        """One of the branches."""
        return self("case", Effect.CHOICE, which, *branches, after=after)

    def opaque(self, *operands: int) -> int:
        """An operation that writes a buffer of its own."""
        return self("dot_general", Effect.OPAQUE, *operands)

    def constant(self) -> int:
        """A value that needs nothing."""
        return self("constant", Effect.OPAQUE)

    def returns(
        self, *results: int, types: tuple[str, ...] = (), given: tuple[str, ...] = ()
    ) -> Reuse:
        """The analysis of the graph with these results."""
        self.graph.results = list(results)
        argument_types = given or (TYPE,) * self.graph.arguments
        return Reuse(self.graph, argument_types, types or (TYPE,) * len(results))


def random_graph(below: Below) -> Graph:
    """A graph of every kind of node; `below(n)` chooses a number from 0 to n - 1."""
    graph = Graph(1 + below(4))

    def pick() -> int:
        recent = graph.values - 4
        return max(recent, 0) + below(min(graph.values, 4)) if below(2) else below(graph.values)

    for _ in range(1 + below(14)):
        effect = list(Effect)[below(len(Effect))]
        operands = tuple(pick() for _ in range(1 + below(3)))
        after: tuple[int, ...] = ()
        count = 1
        if effect is Effect.IDENTITY:
            count = len(operands)
        elif effect is Effect.UPDATE:
            count = 1 + below(len(operands))
        elif effect is Effect.CHOICE:
            operands, after = (*operands, pick()), (pick(),)
        elif effect is Effect.OPAQUE and not below(4):
            operands = ()
        if not below(12):
            graph.kept.add(len(graph.nodes))
        graph.add(effect.name.lower(), effect, operands, count, after)
    graph.results = [pick() for _ in range(1 + below(4))]
    return graph
