"""Whether a result can be written over an argument's buffer without a copy.

The rules are those of XLA's copy insertion and buffer sharing (copy_insertion.cc,
hlo_dataflow_analysis.cc: CanShareOperandBufferWithUser), checked against what its CPU
compiler does:

1. Every other read of the argument must come before the write by data dependency. A read
   that is merely unordered with the write costs a copy: XLA inserts copies before it
   schedules.
2. Where the write itself, or what XLA fuses into it, reads the argument, it must read each
   element at the place that it writes, in the same shape and element type.
3. An argument that is also returned unchanged is still needed at the end.

Sets of arguments and of results are Python integers, a bit each, so that the whole is
linear in the program.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from hlopass.flow import Effect, Graph, Node

Matrix = np.ndarray[Any, np.dtype[Any]]


class Conflict(NamedTuple):
    """Why a pair costs a copy: a code, what stands in the way, and its place."""

    code: str
    operation: str | None = None
    place: str | None = None

    def __str__(self) -> str:
        at = "" if self.place is None else f" at {self.place}"
        return _SENTENCES[self.code].format(operation=f"{self.operation}{at}")


_SENTENCES = {
    "read-after-write": "it is read by {operation}, which nothing orders before the write",
    "read-later": "it is read by {operation} after the write",
    "not-in-place": "{operation} cannot work in place",
    "other-shape": "{operation} reads it in another shape or element type than it writes",
    "returned-unchanged": "it is also returned unchanged",
    "result-unchanged": "the result is another argument unchanged",
    "branch-unchanged": "a branch of {operation} returns another argument unchanged",
}


class Reuse:
    """Answers for all pairs of a graph's arguments and results.

    `argument_types` and `result_types` are compared for equality only.
    """

    def __init__(
        self, graph: Graph, argument_types: Sequence[str], result_types: Sequence[str]
    ) -> None:
        self.graph = graph
        self.argument_types = argument_types
        self.result_types = result_types
        self._forward()
        self._writers = self._result_writers()
        self.returned = self._returned()
        self._backward()

    def _forward(self) -> None:
        """For each value, which arguments it is, or can be computed from in one fusion.

        `view`: the value is the argument, perhaps in another shape. `same`: computed from
        it element by element. `moved`: computed from it with elements moved. A value that
        XLA gives a buffer of its own has none of the three.
        """
        count = self.graph.values
        self.view = view = [0] * count
        self.same = same = [0] * count
        self.moved = moved = [0] * count
        self.readers: list[list[int]] = [[] for _ in range(self.graph.arguments)]
        for argument in range(self.graph.arguments):
            view[argument] = same[argument] = 1 << argument
        for position, node in enumerate(self.graph.nodes):
            effect = node.effect
            if effect is Effect.OPAQUE:
                self._read(position, node)
            elif effect is Effect.ELEMENTWISE:
                near = far = 0
                for operand in node.operands:
                    near |= same[operand]
                    far |= moved[operand]
                same[node.first] = near & ~far
                moved[node.first] = far
                if near or far:
                    self._read(position, node)
            else:
                _FORWARD[effect](self, position, node)

    def _identity(self, _: int, node: Node) -> None:
        for offset, operand in enumerate(node.operands[: node.size]):
            for sets in (self.view, self.same, self.moved):
                sets[node.first + offset] = sets[operand]

    def _reshape(self, _: int, node: Node) -> None:
        operand = node.operands[0]
        self.view[node.first] = self.view[operand]
        self.moved[node.first] = self.same[operand] | self.moved[operand]

    def _indexed(self, position: int, node: Node) -> None:
        for operand in node.operands:
            self.moved[node.first] |= self.same[operand] | self.moved[operand]
        self._read(position, node)

    def _update(self, position: int, node: Node) -> None:
        for offset in range(node.size):
            self.same[node.first + offset] = self.same[node.operands[offset]]
            self.moved[node.first + offset] = self.moved[node.operands[offset]]
        self._read(position, node)

    def _choice(self, position: int, node: Node) -> None:
        for operand in node.operands:
            self.same[node.first] |= self.same[operand]
            self.moved[node.first] |= self.moved[operand]
        self.same[node.first] &= ~self.moved[node.first]
        self._read(position, node)

    def _read(self, position: int, node: Node) -> None:
        """Notes which arguments a node reads, itself or through views."""
        read = 0
        for operand in node.operands:
            read |= self.view[operand]
        for argument in _bits(read):
            self.readers[argument].append(position)

    def _result_writers(self) -> list[int]:
        """For each result, the position of the node that writes it; -1 for an argument."""
        defined = [-1] * self.graph.values
        for position, node in enumerate(self.graph.nodes):
            for offset in range(node.size):
                value = node.first + offset
                alias = node.effect in (Effect.IDENTITY, Effect.RESHAPE)
                unchanged = alias and self.view[value]
                defined[value] = -1 if unchanged else position
        return [defined[value] for value in self.graph.results]

    def _backward(self) -> None:
        """For each node, which results are written by it or by what depends on it."""
        reach = [0] * self.graph.values
        self.reach = [0] * len(self.graph.nodes)
        written: dict[int, int] = {}
        for result, writer in enumerate(self._writers):
            written[writer] = written.get(writer, 0) | 1 << result
        for position in range(len(self.graph.nodes) - 1, -1, -1):
            node = self.graph.nodes[position]
            found = written.get(position, 0)
            if node.size == 1:
                found |= reach[node.first]
            else:
                for value in range(node.first, node.first + node.size):
                    found |= reach[value]
            self.reach[position] = found
            if found:
                for operand in node.operands:
                    reach[operand] |= found
                for value in node.after:
                    reach[value] |= found

    def free_results(self, argument: int) -> int:
        """The results, as bits, before whose write every read of the argument comes."""
        free = (1 << len(self._writers)) - 1
        for reader in self.readers[argument]:
            free &= self.reach[reader]
        return free

    def copies(self, arguments: Sequence[int], results: Sequence[int]) -> Matrix:
        """Copies that each pair costs, arguments down, results across: 0, or 1, or 2.

        Two where the result is not the argument's next value either: XLA then copies the
        argument and the result. It agrees with `conflict`.
        """
        free = _matrix([self.free_results(a) for a in arguments], len(self._writers))[:, results]
        values = [self.graph.results[r] for r in results]
        count = self.graph.arguments
        view, same, moved = (
            _matrix([sets[value] for value in values], count).T[arguments]
            for sets in (self.view, self.same, self.moved)
        )
        blocked = _matrix([self._blocked(r) for r in results], count).T[arguments]
        types = np.array([self.result_types[r] for r in results])
        other = np.array([types != self.argument_types[a] for a in arguments])
        written = np.array([self._writers[r] >= 0 for r in results])
        kept = np.array([bool(self.returned >> a & 1) for a in arguments])
        bad = ~free | moved | blocked | (same & other)
        bad |= ~written[None, :] | kept[:, None]
        return np.where(view, 0.0, bad * (2.0 - same))

    def _returned(self) -> int:
        """The arguments that some result is, unchanged."""
        found = 0
        for value in self.graph.results:
            found |= self.view[value]
        return found

    def is_next_value(self, argument: int, result: int) -> bool:
        """Whether a result is computed from the argument, element by element or by update."""
        writer = self._writers[result]
        return writer >= 0 and bool(self.same[self.graph.results[result]] >> argument & 1)

    def is_unchanged(self, argument: int, result: int) -> bool:
        """Whether a result is the argument itself."""
        return bool(self.view[self.graph.results[result]] >> argument & 1)

    def conflict(self, argument: int, result: int) -> Conflict | None:
        """Why writing the result over the argument costs a copy; None where it is free."""
        if self.is_unchanged(argument, result):
            return None
        value = self.graph.results[result]
        writer = self._writers[result]
        if writer < 0:
            return Conflict("result-unchanged")
        if self.returned >> argument & 1:
            return Conflict("returned-unchanged")
        late = self._late_reader(argument, result)
        if late is not None:
            return late
        return self._at_write(argument, result, value, self.graph.nodes[writer], writer)

    def _late_reader(self, argument: int, result: int) -> Conflict | None:
        writer = self._writers[result]
        for reader in self.readers[argument]:
            if not self.reach[reader] >> result & 1:
                code = "read-later" if self._depends(reader, writer) else "read-after-write"
                return self._because(code, reader)
        return None

    def _depends(self, position: int, on: int) -> bool:
        """Whether a node needs what another, earlier one writes."""
        wanted = {*self.graph.nodes[position].operands, *self.graph.nodes[position].after}
        for earlier in range(position - 1, on, -1):
            node = self.graph.nodes[earlier]
            if any(value in wanted for value in range(node.first, node.first + node.size)):
                wanted.update(node.operands, node.after)
        node = self.graph.nodes[on]
        return any(value in wanted for value in range(node.first, node.first + node.size))

    def _at_write(
        self, argument: int, result: int, value: int, node: Node, position: int
    ) -> Conflict | None:
        """What stands against the write itself working in place."""
        if self.moved[value] >> argument & 1:
            if node.effect is Effect.RESHAPE:
                return self._because("other-shape", position)
            return self._because("not-in-place", position)
        if self._blocked(result) >> argument & 1:
            choice = node.effect is Effect.CHOICE
            return self._because("branch-unchanged" if choice else "not-in-place", position)
        same_type = self.argument_types[argument] == self.result_types[result]
        if self.same[value] >> argument & 1 and not same_type:
            return self._because("other-shape", position)
        return None

    def _blocked(self, result: int) -> int:
        """The arguments that the node which writes a result reads, but not in place."""
        writer = self._writers[result]
        if writer < 0:
            return 0
        node = self.graph.nodes[writer]
        updated = self.graph.results[result] - node.first
        read = 0
        for position, operand in enumerate(node.operands):
            if node.effect is not Effect.UPDATE or position != updated:
                read |= self.view[operand]
        if node.effect is Effect.CHOICE and read:
            everything = (1 << self.graph.arguments) - 1
            single = read & (read - 1) == 0
            return everything & ~read if single else everything
        return read if node.effect in (Effect.OPAQUE, Effect.UPDATE) else 0

    def _because(self, code: str, position: int) -> Conflict:
        return Conflict(code, self.graph.nodes[position].name, self.graph.place(position))


_FORWARD = {
    Effect.IDENTITY: Reuse._identity,
    Effect.RESHAPE: Reuse._reshape,
    Effect.INDEXED: Reuse._indexed,
    Effect.UPDATE: Reuse._update,
    Effect.CHOICE: Reuse._choice,
}


def _matrix(rows: Sequence[int], columns: int) -> Matrix:
    """Sets as rows of booleans."""
    width = (columns + 7) // 8
    data = b"".join(row.to_bytes(width, "little") for row in rows)
    bits = np.unpackbits(np.frombuffer(data, np.uint8), bitorder="little")
    return bits.reshape(len(rows), width * 8)[:, :columns].astype(bool)


def _bits(number: int) -> list[int]:
    """The positions of the bits that are set."""
    found = []
    while number:
        low = number & -number
        found.append(low.bit_length() - 1)
        number ^= low
    return found
