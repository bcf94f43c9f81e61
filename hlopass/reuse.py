"""Whether a result can be written over an argument's buffer without a copy.

The rules are those of XLA's copy insertion and buffer sharing (copy_insertion.cc,
hlo_dataflow_analysis.cc: CanShareOperandBufferWithUser), checked against what its CPU
compiler does with random programs (tests/test_property.py, bench/precision.py):

1. Every other read of the argument must come before the write by data dependency. A read
   that is merely unordered with the write costs a copy: XLA inserts copies before it
   schedules. What XLA computes again in several places reads in all of them (`fusion.py`).
2. Where the write itself, or what XLA fuses into it, reads the argument, it must read each
   element at the place that it writes, in the same shape and element type.
3. A result that is changed in place (a cache, a loop's carry) is in its buffer from the
   start: what it starts from is the write. Where that is another argument or a constant,
   XLA copies it, and then the result.
4. An argument that is also returned unchanged is copied anyway, and then nothing stands
   against writing over it what depends on that copy.
5. An argument that is changed in place for something else, and read besides, is copied.

A copy that is not foreseen costs time, never a wrong result. What the rules miss:

- XLA moves code in and out of conditionals and makes selections of them, so that a read may
  come later than here: of random programs with a conditional, one in two hundred copies.
- It computes at once what it can (a comparison of a value with itself, a loop that hands on
  what it was given), and moves an addition into a scatter that adds: another program.
- Temporary memory may grow by the bytes saved, where an intermediate was in the result's own
  buffer, which the argument now occupies. Seldom by twice as much, as XLA packs all anew.

In the other direction, of the conflicts three in ten cost no copy more than without
donation: XLA copies there anyway, or simplifies what was in the way.

Sets of arguments and of results are Python integers, a bit each, so that the whole is
linear in the program.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from hlopass.flow import Effect, Graph, Node
from hlopass.fusion import Schedule

if TYPE_CHECKING:
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
    "read-again": "{operation}, which reads it, is computed again where nothing orders it "
    "before the write",
    "not-in-place": "{operation} cannot work in place",
    "other-shape": "{operation} reads it in another shape or element type than it writes",
    "returned-unchanged": "it is also returned unchanged",
    "result-unchanged": "the result is another argument unchanged",
    "result-constant": "the result is a constant, or starts as one",
    "result-changed": "the result is another argument, changed in place by {operation}",
    "branch-unchanged": "a branch of {operation} returns another argument unchanged",
}


class Reuse:
    """Answers for all pairs of a graph's arguments and results.

    `argument_types` and `result_types` are compared for equality only. `readers`: for each
    argument, the nodes that read it, by position, those excepted that nothing needs; `later`:
    those that read it or what it is changed to in place.
    """

    def __init__(
        self, graph: Graph, argument_types: Sequence[str], result_types: Sequence[str]
    ) -> None:
        self.graph = graph
        self.argument_types = argument_types
        self.result_types = result_types
        self.schedule = Schedule(graph)
        self._forward()
        self._contended = self._changed & sum(
            1 << a for a, readers in enumerate(self.readers) if len(readers) > 1
        )
        self._read = sum(1 << a for a, readers in enumerate(self.readers) if readers)
        self._returned = 0
        for value in graph.results:
            self._returned |= self.view[value]
        self._varying = 0
        for argument in range(graph.arguments):
            self._varying |= self.schedule.needs[argument]
        self._blocked = [self._blocked_by(at) for at in range(len(graph.results))]
        self._taken = [self._taken_by(at) for at in range(len(graph.results))]
        self._known: dict[tuple[int, int], Conflict | None] = {}

    def _forward(self) -> None:
        """For each value, which arguments it is, or can be computed from in one fusion.

        `view`: the value is the argument, perhaps in another shape. `held`: it is that, or
        that changed in place; `_lives`: its users may read it, through a conditional or
        another layout. `same`: computed
        from it element by element. `_close` and `moved`: what XLA fuses into the value reads
        it, element by element or at other places.
        """
        graph, schedule = self.graph, self.schedule
        self.view, self.held, self.same, self.moved = ([0] * graph.values for _ in range(4))
        self._lives, self._close = [0] * graph.values, [0] * graph.values
        same, close, moved, fused = self.same, self._close, self.moved, schedule.fused
        self.readers: list[list[int]] = [[] for _ in range(graph.arguments)]
        self.later: list[list[int]] = [[] for _ in range(graph.arguments)]
        self._changed = 0
        for argument in range(graph.arguments):
            for sets in (self.view, self.held, self._lives, same, close):
                sets[argument] = 1 << argument
            fused[argument] = -1
        for position, node in enumerate(graph.nodes):
            effect = node.effect
            if effect is Effect.ELEMENTWISE or effect is Effect.COSTLY_ELEMENTWISE:
                computed = near = far = 0
                for operand in node.operands:
                    computed |= same[operand]
                    near |= close[operand] & fused[operand]
                    far |= moved[operand] & fused[operand]
                same[node.first] = computed & ~far
                close[node.first] = near
                moved[node.first] = far
                if near or far:
                    self._note(position, node)
            elif effect is Effect.OPAQUE:
                self._note(position, node)
            else:
                _FORWARD[effect](self, position, node)

    def _identity(self, _: int, node: Node) -> None:
        for offset, operand in enumerate(node.operands[: node.size]):
            sets = (self.view, self.held, self._lives, self.same, self._close, self.moved)
            for each in (*sets, self.schedule.fused):
                each[node.first + offset] = each[operand]

    def _reshape(self, _: int, node: Node) -> None:
        operand = node.operands[0]
        self.view[node.first] = self.view[operand]
        self.held[node.first] = self.held[operand]
        self._lives[node.first] = self._lives[operand]
        self.moved[node.first] = self._in_kernel(operand)
        if self.held[operand]:
            self.schedule.fused[node.first] = -1

    def _indexed(self, position: int, node: Node) -> None:
        for operand in node.operands:
            self.moved[node.first] |= self._in_kernel(operand)
        self._note(position, node)

    def _transpose(self, position: int, node: Node) -> None:
        self._lives[node.first] = self._lives[node.operands[0]]
        self._indexed(position, node)

    def _in_kernel(self, value: int) -> int:
        """The arguments that an operation reads from their buffers to have a value."""
        return (self._close[value] | self.moved[value]) & self.schedule.fused[value]

    def _update(self, position: int, node: Node) -> None:
        for offset, operand in enumerate(node.operands[: node.size]):
            value = node.first + offset
            self.held[value] = self.held[operand]
            self._lives[value] = self._lives[operand]
            self.same[value] = self.same[operand] | self.held[operand]
            self._close[value] = self._close[operand] | self.held[operand]
            self.moved[value] = self.moved[operand]
            if self.held[operand]:
                self.schedule.fused[value] = -1
            self._changed |= self.view[operand]
        self._note(position, node)

    def _insert(self, position: int, node: Node) -> None:
        self._update(position, node)
        for operand in node.operands[1:]:
            self.moved[node.first] |= self._in_kernel(operand)

    def _choice(self, position: int, node: Node) -> None:
        self.held[node.first] = (1 << self.graph.arguments) - 1
        for operand in node.operands[1:]:
            self.held[node.first] &= self.held[operand]
            self._lives[node.first] |= self._lives[operand]
            self.same[node.first] |= self.same[operand]
            self._close[node.first] |= self._close[operand]
            self.moved[node.first] |= self.moved[operand]
            self._changed |= self.view[operand]
        self.same[node.first] &= ~self.moved[node.first]
        self._note(position, node)

    def _note(self, position: int, node: Node) -> None:
        """Notes which arguments a node reads, itself or through views."""
        if not self.schedule.reach[position]:
            return
        lives = 0
        for operand in node.operands:
            lives |= self._lives[operand]
        if lives:
            view = self._viewed(node.operands)
            for argument in _bits(lives):
                self.later[argument].append(position)
                if view >> argument & 1:
                    self.readers[argument].append(position)

    def _viewed(self, values: Sequence[int]) -> int:
        """The arguments that some values are."""
        found = 0
        for value in values:
            found |= self.view[value]
        return found

    def _blocked_by(self, result: int) -> int:
        """The arguments that the first write of a result reads, but not in place."""
        blocked = 0
        write = self.schedule.writes[result]
        for value in write.choices:
            # XLA passes what the branches read into the conditional, and copies it there unless
            # a branch returns it as it is.
            node = self.graph.nodes[self.graph.writer(value)]
            blocked |= self._viewed(node.after) & ~write.sources
        for value in write.starts:
            node = self.graph.nodes[self.graph.writer(value)]
            if node.effect is Effect.TRANSPOSE and node.operands[0] >= self.graph.arguments:
                # XLA transposes a product by its operands.
                node = self.graph.nodes[self.graph.writer(node.operands[0])]
            if node.effect in (Effect.OPAQUE, Effect.UPDATE, Effect.INSERT):
                changed = -1 if node.effect is Effect.OPAQUE else value - node.first
                for position, operand in enumerate(node.operands):
                    if position != changed:
                        blocked |= self._lives[operand]
        return blocked

    def _taken_by(self, result: int) -> int:
        """The arguments that a result cannot be written over, whatever reads them.

        It is another one's content; or the argument is read, and changed in place, for
        something else than the result, and XLA copies it for that.
        """
        write = self.schedule.writes[result]
        everything = (1 << self.graph.arguments) - 1
        if write.chosen or self._is_constant(result):
            return everything
        taken = everything & ~write.sources if write.sources else self._contended
        return taken & self._read if write.is_argument else taken

    def _is_constant(self, result: int) -> bool:
        """Whether XLA knows what a result starts as: it does not depend on any argument."""
        write = self.schedule.writes[result]
        if write.constant or write.sources or self._varying >> result & 1:
            return write.constant
        starts = [self.graph.nodes[self.graph.writer(value)] for value in write.starts]
        return not any(node.effect is Effect.BROADCAST for node in starts)

    def _free(self, readers: Sequence[int]) -> int:
        """The results, as bits, that are written after all that some nodes read."""
        free = self.schedule.alive - 1
        for reader in readers:
            free &= self.schedule.before[reader]
        return free

    def copies(self, arguments: Sequence[int], results: Sequence[int]) -> Matrix:
        """Copies that each pair costs, arguments down, results across: -1 to 2.

        Where there is no conflict, 0, or -1: without the donation XLA copies the argument,
        because it is returned or changed in place. Else 1, or 2 where the result does not
        depend on the argument: XLA then copies the result too.
        """
        count = len(self.graph.results)
        values = [self.graph.results[r] for r in results]

        def by_result(sets: list[int]) -> Matrix:
            return _matrix(sets, self.graph.arguments).T[arguments]

        view, held, close, moved = (
            by_result([sets[value] for value in values])
            for sets in (self.view, self.held, self._close, self.moved)
        )
        free, free_later, depends = (
            _matrix(sets, count)[:, results]
            for sets in (
                [self._free(self.readers[a]) for a in arguments],
                [self._free(self.later[a]) for a in arguments],
                [self._dependent(a) for a in arguments],
            )
        )
        kinds: dict[str, int] = {}
        given = [kinds.setdefault(self.argument_types[a], len(kinds)) for a in arguments]
        made = [kinds.setdefault(self.result_types[r], len(kinds)) for r in results]
        other = np.array(given, int)[:, None] != np.array(made, int)
        own = by_result([self.schedule.writes[r].sources for r in results])
        bad = ~np.where(own, free, free_later) | by_result([self._blocked[r] for r in results])
        bad |= (moved | (close & other)) & ~held
        kept = np.array([self._returned >> a & 1 for a in arguments], bool)
        bad = np.where(kept[:, None], ~depends, bad)
        bad |= by_result([self._taken[r] for r in results])
        bad &= ~view
        whole = np.array([self.schedule.writes[r].is_argument for r in results], bool)
        return np.where(bad, np.where(depends | whole, 1.0, 2.0), -1.0 * held)

    def next_values(self, arguments: Sequence[int], results: Sequence[int]) -> Matrix:
        """Which results are the argument, or are computed from it; shape as in `copies`."""
        values = [self.graph.results[r] for r in results]
        view = _matrix([self.view[value] for value in values], self.graph.arguments)
        same = _matrix([self.same[value] for value in values], self.graph.arguments)
        changed = np.array([not self.schedule.writes[r].is_argument for r in results], bool)
        found: Matrix = view | same & changed[:, None]
        return found.T[arguments]

    def _dependent(self, argument: int) -> int:
        """The results, as bits, that are written after something that needs the argument."""
        return self.schedule.needs[argument] & (self.schedule.alive - 1)

    def is_next_value(self, argument: int, result: int) -> bool:
        """Whether a result is computed from the argument, element by element or by update."""
        value = self.graph.results[result]
        changed = not self.schedule.writes[result].is_argument
        return changed and bool(self.same[value] >> argument & 1)

    def is_unchanged(self, argument: int, result: int) -> bool:
        """Whether a result is the argument itself."""
        return bool(self.view[self.graph.results[result]] >> argument & 1)

    def may_serve(self, argument: int, results: int) -> bool:
        """Whether one of the results, as bits, can be written after every read of the argument."""
        returned = self._returned >> argument & 1
        return bool(returned or self._free(self.readers[argument]) & results)

    def depends(self, argument: int, result: int) -> bool:
        """Whether a result is written after something that needs the argument."""
        return bool(self._dependent(argument) >> result & 1)

    def saves(self, argument: int, result: int) -> bool:
        """Whether reuse saves a copy, if there is no conflict: it is the argument, or is held."""
        return bool(self.held[self.graph.results[result]] >> argument & 1)

    @functools.cached_property
    def mates(self) -> list[list[int]]:
        """For each argument, the results that are it, or are computed from it."""
        found: list[list[int]] = [[] for _ in range(self.graph.arguments)]
        for result, value in enumerate(self.graph.results):
            whole = self.schedule.writes[result].is_argument
            for argument in _bits(
                self.view[value] if whole else self.view[value] | self.same[value]
            ):
                found[argument].append(result)
        return found

    def conflict(self, argument: int, result: int) -> Conflict | None:
        """Why writing the result over the argument costs a copy; None where it is free."""
        pair = argument, result
        if pair not in self._known:
            self._known[pair] = self._conflict(argument, result)
        return self._known[pair]

    def _conflict(self, argument: int, result: int) -> Conflict | None:
        if self.is_unchanged(argument, result):
            return None
        if self._taken[result] >> argument & 1:
            return self._start(argument, result)
        if self._returned >> argument & 1:
            dependent = self._dependent(argument) >> result & 1
            return None if dependent else Conflict("returned-unchanged")
        late = self._late_reader(argument, result)
        return late if late is not None else self._at_write(argument, result)

    def _start(self, argument: int, result: int) -> Conflict:
        """The conflict where a result starts as something else's content."""
        write = self.schedule.writes[result]
        if self._is_constant(result):
            return Conflict("result-constant")
        if write.is_argument:
            return Conflict("result-unchanged")
        if write.choices:
            return self._because("branch-unchanged", self.graph.writer(write.choices[0]))
        if write.sources:
            return self._because("result-changed", self.graph.writer(write.starts[0]))
        return self._because("read-after-write", self.readers[argument][-1])

    def _late_reader(self, argument: int, result: int) -> Conflict | None:
        schedule = self.schedule
        own = schedule.writes[result].sources >> argument & 1
        for reader in self.readers[argument] if own else self.later[argument]:
            if not schedule.before[reader] >> result & 1:
                code = "read-after-write"
                if schedule.reach[reader] >> result & 1:
                    code = "read-again"
                elif any(self._depends(reader, value) for value in schedule.writes[result].starts):
                    code = "read-later"
                return self._because(code, reader)
        return None

    def _depends(self, position: int, value: int) -> bool:
        """Whether a node needs a value."""
        wanted = {*self.graph.nodes[position].operands, *self.graph.nodes[position].after}
        for earlier in range(position - 1, self.graph.writer(value), -1):
            node = self.graph.nodes[earlier]
            if any(each in wanted for each in range(node.first, node.first + node.size)):
                wanted.update(node.operands, node.after)
        return value in wanted

    def _at_write(self, argument: int, result: int) -> Conflict | None:
        """What stands against the first write itself working in place."""
        value, bit = self.graph.results[result], 1 << argument
        if self._blocked[result] & bit:
            code = "not-in-place"
        elif self.held[value] & bit:
            return None
        elif self.moved[value] & bit:
            shaped = self.graph.nodes[self.graph.writer(value)].effect is Effect.RESHAPE
            code = "other-shape" if shaped else "not-in-place"
        elif (
            self._close[value] & bit and self.argument_types[argument] != self.result_types[result]
        ):
            code = "other-shape"
        else:
            return None
        starts = self.schedule.writes[result].starts
        return self._because(code, self.graph.writer(starts[0] if starts else value))

    def _because(self, code: str, position: int) -> Conflict:
        return Conflict(code, self.graph.nodes[position].name, self.graph.place(position))


_FORWARD = {
    Effect.IDENTITY: Reuse._identity,
    Effect.RESHAPE: Reuse._reshape,
    Effect.INDEXED: Reuse._indexed,
    Effect.TRANSPOSE: Reuse._transpose,
    Effect.BROADCAST: Reuse._indexed,
    Effect.COSTLY_INDEXED: Reuse._indexed,
    Effect.INSERT: Reuse._insert,
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
