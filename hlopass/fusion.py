"""When XLA runs what reads a buffer, in relation to when it writes each result.

XLA fuses an operation into those that use its result, and computes it again in each of
them (instruction_fusion.cc): its operands are then read as late as they are. So what
matters is not when an operation comes, but when the last of its copies does:

- A cheap operation is fused into each user that fusion can reach. If it reads more than one
  large operand, all its users must be such, and it must not be a result itself.
- A costly one is fused only where it has a single user, which does not use its elements
  again (a broadcast).
- What reads its operands from buffers (a product, a sort, a loop) fuses nothing. But where
  an operand is a transpose, it may read the transpose's own operand in another layout.
- A conditional may become a selection, which is fused as a cheap operation is.

XLA decides by more than that (code size, paths through several operations): where this file
says "fused" it may not be, so what it says is never too early.

Sets of results are Python integers, a bit each; the whole is linear in the program.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from hlopass.flow import Effect, Graph, Node

CHEAP = frozenset(
    {
        Effect.RESHAPE,
        Effect.ELEMENTWISE,
        Effect.INDEXED,
        Effect.TRANSPOSE,
        Effect.BROADCAST,
        Effect.INSERT,
    }
)
"""What XLA computes again in each user."""

COSTLY = frozenset({Effect.COSTLY_ELEMENTWISE, Effect.COSTLY_INDEXED})
"""What XLA fuses into a single user."""

FUSED = CHEAP | COSTLY | {Effect.CHOICE}
"""What XLA fuses into its users, and its operands into it."""

PASSING = frozenset({Effect.IDENTITY, Effect.RESHAPE, Effect.INSERT, Effect.UPDATE})
"""What leaves the content of an operand, changed or not, in its buffer."""


@dataclass
class Write:
    """How a result comes into its buffer.

    `starts`: the values that are written to it first; several for a conditional. `changes`:
    those that come of changing it in place, or its shape. `sources`: arguments whose
    content it starts from, a bit each. `choices`: values of conditionals that it comes
    through, `chosen`: whether one returns what was computed before it. `constant`: whether
    it starts as a constant, or as what needs no operands.
    """

    starts: list[int] = field(default_factory=list)
    changes: list[int] = field(default_factory=list)
    sources: int = 0
    choices: list[int] = field(default_factory=list)
    chosen: bool = False
    constant: bool = False

    @property
    def is_argument(self) -> bool:
        """Whether the result is an argument, unchanged."""
        return not self.starts and not self.choices


class Schedule:
    """For each node, which results are written after it.

    `reach`: results that it, or what depends on it, starts to write; and a bit beyond those
    of results, `alive`, where anything needs the node at all. `before`: results whose write
    comes after the last copy of it, or is in it. `needs`: as `reach`, for each value.
    `fused`: -1 for values that have no buffer in some user of theirs, else 0.
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.writes = [_write(graph, value) for value in graph.results]
        self.alive = 1 << len(graph.results)
        self.reach = [0] * len(graph.nodes)
        self.before = [0] * len(graph.nodes)
        self.needs = [0] * graph.values
        self.fused = [0] * graph.values
        # Of each value: results that are written later, where it is needed at all; the results
        # before whose write all users have read it that it can be fused into, -1 without
        # such; the results that need its buffer; the node that its only user is fused into, -1
        # without users, -2 with several such nodes, or one that uses its elements again.
        self._later = [0] * graph.values
        self._soft = [-1] * graph.values
        self._hard = [0] * graph.values
        self._user = [-1] * graph.values
        self._changed, self._chosen = self._bits("changes"), self._bits("choices")
        self._turned = {node.first for node in graph.nodes if node.effect is Effect.TRANSPOSE}
        for result, write in enumerate(self.writes):
            value = graph.results[result]
            own = 1 << result if value in write.starts else 0
            self.needs[value] |= self.alive
            self._hard[value] |= self.alive | own
            for value in write.starts:
                self.needs[value] |= 1 << result
        self._backward()

    def _backward(self) -> None:
        """One pass from the end: the users of a value are known when its node is reached."""
        needs, later, kept = self.needs, self._later, self.graph.kept
        for position in range(len(self.graph.nodes) - 1, -1, -1):
            node = self.graph.nodes[position]
            if node.effect is Effect.IDENTITY:
                self._pass_on(node)
                continue
            first = node.first
            found = needs[first]
            for value in range(first + 1, first + node.size):
                found |= needs[value]
            if found or position in kept:
                self.reach[position] = found = (found or self.alive) | later[first]
                self.before[position] = self._use(position, node, found)

    def _use(self, position: int, node: Node, found: int) -> int:
        """Notes a node with its operands; the results before whose write its last copy comes."""
        needs, soft, hard, user = self.needs, self._soft, self._hard, self._user
        _, effect, operands, first, _, after = node
        fusing = effect in FUSED
        chosen = self._chosen.get(first, 0)
        before, kernel = found, position
        if fusing and self._is_fused(node):
            before = soft[first] & (hard[first] or -1)
            kernel = max(user[first], position)  # its own where it is fused into several
        if effect is Effect.BROADCAST:
            kernel = -2
        in_place = soft[operands[0]] if fusing and first in self._changed else 0
        for value in operands:
            needs[value] |= found
            if user[value] != kernel:
                user[value] = kernel if user[value] == -1 else -2
            if fusing or value in self._turned:
                soft[value] &= before | chosen
            else:
                hard[value] |= found
        if in_place:
            soft[operands[0]] = in_place & (before | self._changed[first])
        for value in after:
            self._later[value] |= before | chosen
        return before | chosen

    def _is_fused(self, node: Node) -> bool:
        """Whether a node that can be fused is fused into users; notes it."""
        value = node.first
        if self._soft[value] == -1:
            return False
        if node.effect in COSTLY:
            found = self._user[value] >= 0 and not self._hard[value]
        else:
            found = not self._hard[value] or self._reads_one(node)
        self.fused[value] = -found
        return found

    def _bits(self, role: str) -> dict[int, int]:
        """For values that have a role in writing results, which ones."""
        found: dict[int, int] = {}
        for result, write in enumerate(self.writes):
            for value in getattr(write, role):
                found[value] = found.get(value, 0) | 1 << result
        return found

    def _pass_on(self, node: Node) -> None:
        """Makes the users of results that are operands those of the operands."""
        user = self._user
        for offset, value in enumerate(node.operands[: node.size]):
            result = node.first + offset
            self.needs[value] |= self.needs[result]
            self._soft[value] &= self._soft[result]
            self._hard[value] |= self._hard[result]
            if user[result] != -1:
                user[value] = user[result] if user[value] in (-1, user[result]) else -2

    def _reads_one(self, node: Node) -> bool:
        """Whether a cheap operation reads at most one large operand, or as much as it writes."""
        if node.effect is Effect.CHOICE:
            return False
        if node.effect is not Effect.ELEMENTWISE:
            return True
        large = [value for value in set(node.operands) if not self._is_small(value)]
        return len(large) <= 1

    def _is_small(self, value: int) -> bool:
        """Whether a value is a broadcast or a constant."""
        position = self.graph.writer(value)
        if position < 0:
            return False
        node = self.graph.nodes[position]
        return node.effect is Effect.BROADCAST or not node.operands


def _write(graph: Graph, value: int) -> Write:
    """Follows a result back through all that changes it in place."""
    write = Write()
    waiting = [(value, -1)]
    while waiting:
        value, first = waiting.pop()
        position = graph.writer(value)
        if position < 0:
            write.sources |= 1 << value
        else:
            node = graph.nodes[position]
            write.constant |= not node.operands
            if node.effect is Effect.CHOICE:
                write.choices.append(value)
                outside = set(node.after).difference(range(graph.arguments))
                write.chosen |= not outside.isdisjoint(node.operands[1:])
                waiting += [(operand, first) for operand in node.operands[1:]]
                continue
            if node.effect is Effect.RESHAPE:
                write.changes.append(value)
            elif node.effect is not Effect.IDENTITY:
                if first >= 0:
                    write.changes.append(first)
                first = value
            if node.effect in PASSING:
                waiting.append((node.operands[value - node.first], first))
                continue
        if first >= 0 and first not in write.starts:
            write.starts.append(first)
    return write
