"""Which result each donated argument serves. Values and a graph in, pairs out; no MLIR."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

import numpy as np

from hlopass import names
from hlopass.reuse import Conflict, Reuse
from hlopass.values import Value, fits

if TYPE_CHECKING:
    from hlopass.reuse import Matrix

_COPY = 1e8
_OTHER_VALUE = 2e6
_OTHER_NAME = 2e4
_OTHER_TYPE = 2e2
_IMPOSSIBLE = 1e6 * _COPY
_UNWANTED = 0.5 * _COPY
"""What it costs to leave an optional donation alone: less than a copy."""


@dataclass
class Pairs:
    """Argument index to result index; and optional arguments that are left alone."""

    results: dict[int, int] = field(default_factory=dict)
    left: dict[int, Conflict] = field(default_factory=dict)


class Pairing(Protocol):
    """A way to pair: donated arguments, free results, and which arguments are optional."""

    def __call__(
        self, arguments: Sequence[Value], results: Sequence[Value], optional: Collection[int]
    ) -> Pairs: ...


def pair_in_order(
    arguments: Sequence[Value], results: Sequence[Value], optional: Collection[int] = ()
) -> Pairs:
    """JAX's rule: same type first, then same byte size, first come first served."""
    pairs: dict[int, int] = {}
    free = [result for result in results if result.obstacle is None]
    for key in (_type, _size):
        waiting: dict[tuple[object, ...], list[Value]] = {}
        for result in free:
            waiting.setdefault(key(result), []).append(result)
        for argument in arguments:
            queue = () if argument.index in pairs else waiting.get(key(argument), ())
            found = next((result for result in queue if fits(argument, result)), None)
            if found is not None:
                pairs[argument.index] = found.index
                waiting[key(argument)].remove(found)
        taken = set(pairs.values())
        free = [result for result in free if result.index not in taken]
    return Pairs(pairs)


class FlowPairing:
    """Pairs by data flow: the assignment that costs the fewest copies, over all at once.

    Among equal ones, the one that ties most arguments to their next value; then by name (see
    `names.agree`), by type, by order. Pairs of indices that are `forbidden` are not made.
    """

    def __init__(self, reuse: Reuse, forbidden: Collection[tuple[int, int]] = ()) -> None:
        self.reuse = reuse
        self.forbidden = forbidden

    def __call__(
        self, arguments: Sequence[Value], results: Sequence[Value], optional: Collection[int] = ()
    ) -> Pairs:
        pairs = Pairs()
        for given, made in _groups(arguments, results):
            self._assign(given, made, optional, pairs)
        return pairs

    def _assign(
        self,
        arguments: Sequence[Value],
        results: Sequence[Value],
        optional: Collection[int],
        pairs: Pairs,
    ) -> None:
        """Solves one group of equal sizes; an optional argument may also take nothing."""
        mates = self._mates(arguments, results, optional)
        if mates is not None:
            pairs.results.update(mates)
            return
        costs = self._costs(arguments, results)
        best = costs.argmin(axis=1).tolist()
        if len(set(best)) == len(best) and not any(a.index in optional for a in arguments):
            # Each argument gets the best of its row: no assignment costs less.
            for argument, column in zip(arguments, best, strict=True):
                if self._allowed(argument, results[column]):
                    pairs.results[argument.index] = results[column].index
            return
        from scipy.optimize import linear_sum_assignment

        leave = np.full((len(arguments), len(arguments)), _IMPOSSIBLE)
        for row, argument in enumerate(arguments):
            if argument.index in optional:
                leave[row, row] = _UNWANTED
        rows, columns = linear_sum_assignment(np.hstack([costs, leave]))
        for row, column in zip(rows.tolist(), columns.tolist(), strict=True):
            argument = arguments[row]
            if column < len(results) and self._allowed(argument, results[column]):
                pairs.results[argument.index] = results[column].index
            elif argument.index in optional:
                conflict = self._least_conflict(argument, results)
                if conflict is not None:
                    pairs.left[argument.index] = conflict

    def _mates(
        self, arguments: Sequence[Value], results: Sequence[Value], optional: Collection[int]
    ) -> dict[int, int] | None:
        """The best of each argument's next values, where nothing is better and no two the same.

        No assignment costs less, so the costs of other pairs are not looked at.
        """
        places = {result.index: at for at, result in enumerate(results)}
        everything = sum(1 << index for index in places)
        found: dict[int, int] = {}
        for row, argument in enumerate(arguments):
            copies = {
                at: self._copies(argument, results[at])
                for index in self.reuse.mates[argument.index]
                if (at := places.get(index)) is not None
            }
            least = min(copies.values(), default=2)
            if least > 1:
                return None
            best = [at for at, count in copies.items() if count == least]
            better = argument.index in optional or self.reuse.may_serve(argument.index, everything)
            if least == 1 and better:
                return None
            found[argument.index] = results[_likest(argument, row, results, best)].index
        return found if len(set(found.values())) == len(found) else None

    def _allowed(self, argument: Value, result: Value) -> bool:
        return (argument.index, result.index) not in self.forbidden and fits(argument, result)

    def _copies(self, argument: Value, result: Value) -> int:
        """As `Reuse.copies`, of one pair; 2 where it is not allowed."""
        if not self._allowed(argument, result):
            return 2
        if self.reuse.conflict(argument.index, result.index) is None:
            return -self.reuse.saves(argument.index, result.index)
        return 1 if self.reuse.depends(argument.index, result.index) else 2

    def _costs(self, arguments: Sequence[Value], results: Sequence[Value]) -> Matrix:
        """The cost of each pair, arguments down, results across."""
        rows, columns = [a.index for a in arguments], [r.index for r in results]
        costs = _COPY * self.reuse.copies(rows, columns)
        costs += _OTHER_VALUE * ~self.reuse.next_values(rows, columns)
        kinds = {value.type: at for at, value in enumerate((*arguments, *results))}
        types = np.array([kinds[argument.type] for argument in arguments])
        result_types = np.array([kinds[result.type] for result in results])
        costs += _OTHER_NAME + _OTHER_TYPE * (types[:, None] != result_types)
        distance = np.arange(len(results)) - np.arange(len(arguments))[:, None]
        costs += (distance / (len(results) + len(arguments))) ** 2
        if self.forbidden or any(result.open for result in results):
            self._forbid(costs, arguments, results)
        if (costs < costs.min(axis=1, keepdims=True) + _COPY / 2).sum() == len(arguments):
            return costs  # one way to save copies for each argument: names decide nothing
        by_name: dict[str, list[int]] = {}
        for column, result in enumerate(results):
            if result.name is not None:
                by_name.setdefault(names.tail(result.name), []).append(column)
        for row, argument in enumerate(arguments):
            mates = by_name.get(names.tail(argument.name), ()) if argument.name else ()
            for column in mates:
                if names.agree(argument.name, results[column].name):
                    costs[row, column] -= _OTHER_NAME
        return costs

    def _forbid(self, costs: Matrix, arguments: Sequence[Value], results: Sequence[Value]) -> None:
        for row, argument in enumerate(arguments):
            for column, result in enumerate(results):
                if not self._allowed(argument, result):
                    costs[row, column] = _IMPOSSIBLE

    def _least_conflict(self, argument: Value, results: Sequence[Value]) -> Conflict | None:
        """Why the best of the results would cost a copy; None where one is free."""
        results = [result for result in results if self._allowed(argument, result)]
        if (self.reuse.copies([argument.index], [r.index for r in results]) <= 0).any():
            return None
        nearest = min(
            results,
            key=lambda result: (
                not self.reuse.is_next_value(argument.index, result.index),
                not names.agree(argument.name, result.name),
            ),
        )
        return self.reuse.conflict(argument.index, nearest.index)


def in_place_updates(
    reuse: Reuse, arguments: Sequence[Value], results: Sequence[Value]
) -> dict[int, int]:
    """Pairs where the result is the argument's next value and reuse is free, each once.

    Returned-unchanged arguments are no updates.
    """
    shown = [argument for argument in arguments if _is_updated(reuse, argument, results)]
    pairs = FlowPairing(reuse)(shown, results).results
    return {
        index: result
        for index, result in pairs.items()
        if reuse.is_next_value(index, result) and reuse.conflict(index, result) is None
    }


def _is_updated(reuse: Reuse, argument: Value, results: Sequence[Value]) -> bool:
    """Whether some result is an argument's next value, and free to be written over it."""
    fitting = [r.index for r in results if fits(argument, r)]
    if not fitting:
        return False
    near = reuse.next_values([argument.index], fitting)[0]
    free = reuse.copies([argument.index], fitting)[0] <= 0
    return any(
        reuse.is_next_value(argument.index, result)
        for result, good in zip(fitting, near & free, strict=True)
        if good
    )


def _likest(argument: Value, row: int, results: Sequence[Value], columns: Sequence[int]) -> int:
    """Of results that are equally good, by their columns, the one of like name, type and order."""
    if len(columns) == 1:
        return columns[0]

    def unlikeness(column: int) -> tuple[bool, bool, int, int]:
        result = results[column]
        other_name = not names.agree(argument.name, result.name)
        return other_name, argument.type != result.type, abs(column - row), column

    return min(columns, key=unlikeness)


def _groups(
    arguments: Sequence[Value], results: Sequence[Value]
) -> Iterator[tuple[list[Value], list[Value]]]:
    """Arguments and results that share no fitting pair with others, both in order.

    That is a group a size, unless results are left open: such a one joins the groups of all
    arguments of its type.
    """
    leader: dict[tuple[object, ...], tuple[object, ...]] = {}

    def find(key: tuple[object, ...]) -> tuple[object, ...]:
        while key in leader:
            key = leader[key]
        return key

    open_types = {_type(result) for result in results if result.open}
    for argument in arguments:
        if _type(argument) in open_types:
            one, other = find(_type(argument)), find(_size(argument))
            if one != other:
                leader[one] = other
    made: dict[tuple[object, ...], list[Value]] = {}
    for result in results:
        if result.obstacle is None:
            made.setdefault(find(_type(result) if result.open else _size(result)), []).append(
                result
            )
    given: dict[tuple[object, ...], list[Value]] = {}
    for argument in arguments:
        if not argument.uneven:
            given.setdefault(find(_size(argument)), []).append(argument)
    yield from ((group, made[key]) for key, group in given.items() if key in made)


def _type(value: Value) -> tuple[object, ...]:
    return value.type, value.memory_kind


def _size(value: Value) -> tuple[object, ...]:
    return value.held, value.memory_kind
