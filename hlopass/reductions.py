"""Which results of a program come about without adding or comparing many elements."""

from __future__ import annotations

from hlopass.flow import Effect, Graph

_ALONE = frozenset(
    {
        Effect.IDENTITY,
        Effect.RESHAPE,
        Effect.ELEMENTWISE,
        Effect.INDEXED,
        Effect.TRANSPOSE,
        Effect.BROADCAST,
        Effect.COSTLY_ELEMENTWISE,
    }
)
"""Effects of operations whose elements each come from one element of each operand."""


def unreduced(graph: Graph) -> tuple[bool, ...]:
    """For each result, whether every operation that it needs works on elements one by one.

    Such a result is the same bits however the program is split. What is not known counts as
    reducing, and so does what a partitioner sums over devices, as a gather.
    """
    alone = [True] * graph.arguments + [False] * (graph.values - graph.arguments)
    for node in graph.nodes:
        if node.effect in _ALONE and all(alone[operand] for operand in node.operands):
            alone[node.first : node.first + node.size] = [True] * node.size
    return tuple(alone[value] for value in graph.results)
