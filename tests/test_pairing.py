"""Which result each donated argument serves: costs and graphs in, pairs out."""

from __future__ import annotations

import itertools
import random
from collections import defaultdict
from collections.abc import Sequence
from typing import Any, ClassVar, cast

import numpy as np
import pytest
from graphs import TYPE, Builder, random_graph
from hypothesis import given
from hypothesis import strategies as st

from hlopass.pairing import FlowPairing, Pairs, in_place_updates, pair_in_order
from hlopass.reuse import Conflict, Reuse
from hlopass.values import Role, Value

SHORT, LONG = 16, 64


def values(role: Role, *names: str | None, **fields: Any) -> list[Value]:
    """Values of one type, one for each name."""
    known = {"type": TYPE, "bytes": SHORT} | fields
    return [Value(role, index, name, **known) for index, name in enumerate(names)]


def arguments(*names: str | None, **fields: Any) -> list[Value]:
    """Arguments of one type, one for each name."""
    return values("argument", *names, **fields)


def results(*names: str | None, **fields: Any) -> list[Value]:
    """Results of one type, one for each name."""
    return values("result", *names, **fields)


class Table:
    """Stands for an analysis: copies by argument and result."""

    def __init__(self, copies: Sequence[Sequence[int]]) -> None:
        self.table = np.array(copies, float)

    def copies(self, given: Sequence[int], made: Sequence[int]) -> Any:
        """A part of the table."""
        return self.table[np.ix_(given, made)].copy()

    mates: ClassVar[dict[int, list[int]]] = defaultdict(list)

    def next_values(self, given: Sequence[int], made: Sequence[int]) -> Any:
        """None is."""
        return np.zeros((len(given), len(made)), bool)

    def conflict(self, argument: int, result: int) -> Conflict | None:
        """Some conflict where a copy is made."""
        return Conflict("read-later") if self.table[argument, result] > 0 else None

    def is_next_value(self, argument: int, result: int) -> bool:
        """Whether no copy is made."""
        return bool(self.table[argument, result] <= 0)


def pair(
    copies: Sequence[Sequence[int]],
    given: Sequence[Value] | None = None,
    made: Sequence[Value] | None = None,
    optional: Sequence[int] = (),
    forbidden: Sequence[tuple[int, int]] = (),
) -> Pairs:
    """Pairs by a table of copies, arguments down, results across."""
    given = arguments(*(None,) * len(copies)) if given is None else given
    made = results(*(None,) * len(copies[0])) if made is None else made
    return FlowPairing(cast(Reuse, Table(copies)), forbidden)(given, made, optional)


# Fewest copies


def test_a_crossed_pair_is_uncrossed() -> None:
    assert pair([[1, 0], [0, 1]]).results == {0: 1, 1: 0}


def test_one_argument_yields_so_that_all_are_cheaper() -> None:
    assert pair([[0, 1], [0, 2]]).results == {0: 1, 1: 0}


def test_a_pair_that_saves_a_copy_is_better_than_a_free_one() -> None:
    assert pair([[0, -1], [0, 0]]).results == {0: 1, 1: 0}
    assert pair([[-1, 0], [-1, -1]]).results == {0: 0, 1: 1}


@given(st.integers(1, 4), st.integers(1, 5), st.data())
def test_no_assignment_costs_less(rows: int, columns: int, data: st.DataObject) -> None:
    numbers = st.lists(st.integers(-1, 2), min_size=columns, max_size=columns)
    table = data.draw(st.lists(numbers, min_size=rows, max_size=rows))
    found = pair(table).results
    assert len(found) == min(rows, columns)
    assert len(set(found.values())) == len(found)
    short, long = sorted((range(rows), range(columns)), key=len)
    least = min(
        sum(
            table[one][other] if len(short) == rows else table[other][one]
            for one, other in zip(short, chosen, strict=True)
        )
        for chosen in itertools.permutations(long, len(short))
    )
    assert sum(table[argument][result] for argument, result in found.items()) == least


@given(st.integers(1, 4), st.data())
def test_names_types_and_order_never_cost_a_copy(count: int, data: st.DataObject) -> None:
    numbers = st.lists(st.integers(0, 2), min_size=count, max_size=count)
    table = data.draw(st.lists(numbers, min_size=count, max_size=count))
    names = st.sampled_from(["a", "b", None])
    given = [
        Value("argument", at, data.draw(names), data.draw(st.sampled_from(["f32", "i32"])), SHORT)
        for at in range(count)
    ]
    made = [Value("result", at, data.draw(names), "f32", SHORT) for at in range(count)]
    cost = [sum(table[a][r] for a, r in found.results.items()) for found in (
        pair(table), pair(table, given, made)
    )]  # fmt: skip
    assert cost[0] == cost[1]


# Ties


def test_the_name_decides_before_the_type() -> None:
    given = arguments("w", "b")
    made = [
        Value("result", 0, "new_b", "tensor<4xi32>", SHORT),
        Value("result", 1, "new_w", TYPE, SHORT),
    ]
    assert pair([[0, 0], [0, 0]], given, made).results == {0: 1, 1: 0}


def test_the_type_decides_before_the_order() -> None:
    given = [
        Value("argument", 0, None, "tensor<4xi32>", SHORT),
        Value("argument", 1, None, TYPE, SHORT),
    ]
    made = [
        Value("result", 0, None, TYPE, SHORT),
        Value("result", 1, None, "tensor<4xi32>", SHORT),
    ]
    assert pair([[0, 0], [0, 0]], given, made).results == {0: 1, 1: 0}


def test_the_order_decides_at_last() -> None:
    zeros = [[0] * 5 for _ in range(5)]
    assert pair(zeros).results == {index: index for index in range(5)}


def test_one_argument_of_several_that_fit_takes_the_first_result() -> None:
    assert pair([[0, 0, 0]]).results == {0: 0}


# Sizes and kinds of memory


def test_only_equal_sizes_are_paired() -> None:
    given = [
        *arguments("short"),
        Value("argument", 1, "long", "tensor<16xf32>", LONG),
    ]
    made = [
        Value("result", 0, None, "tensor<16xf32>", LONG),
        Value("result", 1, None, TYPE, SHORT),
    ]
    assert pair([[0, 5], [0, 5]], given, made).results == {0: 1, 1: 0}


def test_only_one_kind_of_memory_is_paired() -> None:
    made = results(None, None)
    pinned = [Value("result", 0, None, TYPE, SHORT, memory_kind="pinned_host"), made[1]]
    assert pair([[0, 1]], None, pinned).results == {0: 1}


def test_a_result_that_cannot_be_reused_is_left_out() -> None:
    made = results(None, None)
    odd = [Value("result", 0, None, TYPE, SHORT, obstacle="it holds no elements"), made[1]]
    assert pair([[0, 1]], None, odd).results == {0: 1}


def test_an_argument_without_a_result_gets_none() -> None:
    made = [Value("result", 0, None, TYPE, LONG)]
    assert pair([[0]], None, made) == Pairs()


def test_what_is_too_much_gets_none() -> None:
    assert pair([[0], [0]]).results == {0: 0}


def test_no_arguments() -> None:
    made = results(None)
    assert FlowPairing(cast(Reuse, Table([[0]])))([], made) == Pairs()


# Optional and forbidden


def test_an_optional_argument_that_costs_a_copy_is_left_alone_with_the_reason() -> None:
    found = pair([[1, 1], [1, 0]], optional=[0])
    assert found.results == {1: 1}
    assert found.left == {0: Conflict("read-later")}


def test_an_optional_argument_yields_to_a_required_one() -> None:
    assert pair([[0], [0]], optional=[0]).results == {1: 0}


def test_an_optional_argument_that_is_free_is_donated() -> None:
    assert pair([[1, 0], [0, 1]], optional=[0, 1]).results == {0: 1, 1: 0}


def test_an_optional_argument_without_a_free_result_is_no_conflict() -> None:
    found = pair([[0], [0]], optional=[1])
    assert found.results == {0: 0}
    assert found.left == {}


def test_a_required_argument_is_donated_whatever_it_costs() -> None:
    assert pair([[2]]).results == {0: 0}


def test_a_forbidden_pair_is_not_made() -> None:
    assert pair([[0, 2]], forbidden=[(0, 0)]).results == {0: 1}


# The same again


@given(st.integers(1, 5), st.integers(0, 999))
def test_the_same_values_in_another_order_are_paired_alike(count: int, seed: int) -> None:
    shuffled = random.Random(seed)
    table = [[shuffled.randrange(3) for _ in range(count)] for _ in range(count)]
    assert pair(table) == pair(table)
    given, made = arguments(*(None,) * count), results(*(None,) * count)
    costs = [
        sum(table[a][r] for a, r in pair(table, one, other).results.items())
        for one, other in ((given, made), (given[::-1], made[::-1]))
    ]
    assert costs[0] == costs[1]


# With a graph


def test_two_swapped_results() -> None:
    to = Builder(2)
    reuse = to.returns(to.elementwise(1), to.elementwise(0))
    found = FlowPairing(reuse)(arguments("a", "b"), results("a", "b"))
    assert found.results == {0: 1, 1: 0}


def test_a_grid_and_the_one_before_it() -> None:
    to = Builder(2)
    stepped = to.elementwise(0, to.indexed(0))
    reuse = to.returns(stepped, 0)
    found = FlowPairing(reuse)(arguments(None, None), results(None, None))
    assert found.results == {0: 1, 1: 0}


@pytest.mark.parametrize("count", [1, 2, 7])
def test_caches_in_a_circle(count: int) -> None:
    to = Builder(count + 1)
    updated = [to.insert(at, count) for at in range(count)]
    reuse = to.returns(*updated[1:], updated[0])
    found = FlowPairing(reuse)(arguments(*(None,) * count), results(*(None,) * count))
    assert found.results == {at: (at - 1) % count for at in range(count)}


@given(st.data())
def test_the_quick_way_and_the_thorough_one_cost_the_same(data: st.DataObject) -> None:
    def below(number: int) -> int:
        return int(data.draw(st.integers(0, number - 1)))

    graph = random_graph(below)
    reuse = Reuse(graph, [TYPE] * graph.arguments, [TYPE] * len(graph.results))
    given = arguments(*(None,) * graph.arguments)
    made = results(*(None,) * len(graph.results))
    optional = [value.index for value in given if not below(3)]
    quick = FlowPairing(reuse)(given, made, optional)
    reuse.mates = [[] for _ in given]
    thorough = FlowPairing(reuse)(given, made, optional)
    copies = reuse.copies(list(range(len(given))), list(range(len(made))))
    costs = [
        sum(copies[pair] for pair in found.results.items())
        + sum(0.5 for index in optional if index not in found.results)
        for found in (quick, thorough)
    ]
    assert costs[0] == costs[1]
    assert quick.results.keys() == thorough.results.keys()


# In order, and updates


def test_in_order_takes_the_same_type_first() -> None:
    given = [
        Value("argument", 0, None, "tensor<4xi32>", SHORT),
        Value("argument", 1, None, TYPE, SHORT),
    ]
    made = results(None, None)
    assert pair_in_order(given, made).results == {0: 1, 1: 0}


def test_in_order_serves_first_come_first() -> None:
    assert pair_in_order(arguments(*"abc"), results(*"xy")).results == {0: 0, 1: 1}


def test_updates_are_what_is_computed_from_the_argument_without_a_copy() -> None:
    to = Builder(4)
    updated, product = to.elementwise(0, 2), to.opaque(2)
    reuse = to.returns(product, updated, 1, to.elementwise(product, 3))
    found = in_place_updates(reuse, arguments(*"abcd"), results(*"wxyz"))
    assert found == {0: 1, 3: 3}


def test_updates_are_in_no_order() -> None:
    to = Builder(2)
    reuse = to.returns(to.insert(1, 0), to.opaque(0))
    assert in_place_updates(reuse, arguments(*"ab"), results(*"xy")) == {1: 0}
