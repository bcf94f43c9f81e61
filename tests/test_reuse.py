"""Which results can be written over which arguments, on graphs made by hand."""

from __future__ import annotations

import pytest
from graphs import Builder, random_graph
from hypothesis import given
from hypothesis import strategies as st

from hlopass.flow import Effect
from hlopass.reasons import REASONS
from hlopass.reuse import Conflict, Reuse


def code(reuse: Reuse, argument: int = 0, result: int = 0) -> str | None:
    """The code of a pair's conflict; None where it is free."""
    found = reuse.conflict(argument, result)
    return None if found is None else found.code


# One test an effect


def test_an_elementwise_result_is_written_over_its_operand() -> None:
    to = Builder(2)
    reuse = to.returns(to.elementwise(0, 1))
    assert [code(reuse, 0), code(reuse, 1)] == [None, None]


def test_a_chain_is_written_over_what_it_starts_from() -> None:
    to = Builder(1)
    assert code(to.returns(to.costly(to.elementwise(to.costly(0))))) is None


def test_an_identity_is_its_operand() -> None:
    to = Builder(2)
    first = to("optimization_barrier", Effect.IDENTITY, 0, 1, count=2)
    reuse = to.returns(first + 1, to.elementwise(first))
    assert reuse.is_unchanged(1, 0)
    assert not reuse.is_unchanged(0, 0)
    assert [code(reuse, 1, 0), code(reuse, 0, 1)] == [None, None]


def test_a_reshaped_argument_is_the_argument() -> None:
    to = Builder(1)
    reuse = to.returns(to.reshape(0), types=("tensor<2x2xf32>",))
    assert reuse.is_unchanged(0, 0)
    assert code(reuse) is None


def test_elements_that_move_are_not_written_in_place() -> None:
    to = Builder(1)
    assert code(to.returns(to.indexed(0))) == "not-in-place"


def test_elements_that_moved_before_the_buffer_are_no_hindrance() -> None:
    to = Builder(2)
    moved = to.opaque(to.indexed(0), 1)
    assert code(to.returns(to.elementwise(moved, 0))) is None


def test_a_broadcast_of_what_was_reduced_is_no_hindrance() -> None:
    to = Builder(1)
    mean = to.broadcast(to.reduced(0))
    assert code(to.returns(to.elementwise(0, mean))) is None


def test_what_is_fused_with_its_elements_moved_is_a_hindrance() -> None:
    to = Builder(2)
    assert code(to.returns(to.elementwise(1, to.indexed(0)))) == "not-in-place"


def test_a_slice_is_inserted_in_place() -> None:
    to = Builder(3)
    reuse = to.returns(to.insert(to.insert(0, 1), 2))
    assert code(reuse) is None
    assert reuse.is_next_value(0, 0)


def test_a_slice_of_the_argument_itself_is_inserted_in_place() -> None:
    to = Builder(1)
    assert code(to.returns(to.insert(0, to.elementwise(to.indexed(0))))) is None


def test_a_loop_carries_in_place() -> None:
    to = Builder(3)
    first = to.update(0, 1, 2, count=2)
    reuse = to.returns(first, first + 1)
    assert [code(reuse, 0, 0), code(reuse, 1, 1)] == [None, None]
    assert code(reuse, 2, 0) == "result-changed"


def test_a_loop_that_also_reads_what_it_carries_does_not() -> None:
    to = Builder(2)
    assert code(to.returns(to.update(0, 1, 0))) == "not-in-place"


def test_a_conditional_writes_in_place_in_its_branches() -> None:
    to = Builder(3)
    reuse = to.returns(to.choice(2, to.elementwise(0, 1), 0))
    assert code(reuse) is None
    assert code(reuse, 1) == "branch-unchanged"


def test_an_opaque_operation_reads_what_it_writes_over() -> None:
    to = Builder(2)
    reuse = to.returns(to.opaque(0, 1))
    assert code(reuse, 0) == "not-in-place"
    assert code(reuse, 1) == "not-in-place"


def test_a_product_of_computed_values_is_written_over_what_they_were_computed_from() -> None:
    to = Builder(2)
    assert code(to.returns(to.opaque(to.costly(0), 1))) is None


def test_a_product_reads_what_is_transposed_for_it() -> None:
    to = Builder(3)
    turned = to.transpose(0)
    assert code(to.returns(to.opaque(turned, 1))) == "not-in-place"
    assert code(to.returns(to.elementwise(to.opaque(turned, 1), 2), turned), 0, 0) == "read-again"


def test_a_product_is_transposed_by_its_operands() -> None:
    to = Builder(2)
    product = to.opaque(0, 1)
    assert code(to.returns(to.transpose(product))) == "not-in-place"


def test_a_loop_over_what_is_computed_from_the_argument() -> None:
    to = Builder(2)
    assert code(to.returns(to.update(to.elementwise(0, to.constant()), 1))) is None


def test_a_costly_operation_with_two_users_in_one_fusion_is_fused() -> None:
    to = Builder(2)
    moved = to.costly(to.indexed(0))
    assert code(to.returns(to.elementwise(to.elementwise(moved, 1), moved))) == "not-in-place"
    to = Builder(2)
    moved = to.costly(to.indexed(0))
    assert code(to.returns(to.elementwise(to.costly(moved, 1), 0), moved)) is None


# One test a conflict


def test_a_read_that_nothing_orders() -> None:
    to = Builder(2)
    reuse = to.returns(to.elementwise(1), to.elementwise(0))
    assert code(reuse, 0, 0) == "read-after-write"
    assert code(reuse, 1, 1) == "read-after-write"
    assert [code(reuse, 0, 1), code(reuse, 1, 0)] == [None, None]


def test_a_read_that_comes_later() -> None:
    to = Builder(2)
    written = to.elementwise(0, 1)
    assert code(to.returns(written, to.opaque(written, 0))) == "read-later"


def test_a_read_that_is_computed_again() -> None:
    to = Builder(2)
    decayed = to.elementwise(0, to.constant())
    reuse = to.returns(decayed, to.elementwise(1, decayed))
    assert code(reuse, 0, 0) == "read-again"


@pytest.mark.parametrize("operation", ["two large operands", "costly"])
def test_a_read_that_is_not_computed_again(operation: str) -> None:
    to = Builder(3)
    read = to.costly(0) if operation == "costly" else to.elementwise(0, 2)
    assert code(to.returns(read, to.elementwise(1, read)), 0, 0) is None


def test_a_read_that_is_computed_again_before_the_write() -> None:
    to = Builder(2)
    decayed = to.elementwise(0, to.constant())
    assert code(to.returns(to.elementwise(to.costly(decayed), decayed))) is None


def test_another_shape() -> None:
    to = Builder(1)
    reuse = to.returns(to.reshape(to.elementwise(0)), types=("tensor<2x2xf32>",))
    assert code(reuse) == "other-shape"


def test_another_element_type() -> None:
    to = Builder(1)
    assert code(to.returns(to.elementwise(0), types=("tensor<4xi32>",))) == "other-shape"


def test_another_type_of_a_result_that_is_computed_from_others() -> None:
    to = Builder(2)
    reuse = to.returns(to.elementwise(1, to.opaque(0)), types=("tensor<4xi32>",))
    assert code(reuse) is None


def test_a_cache_in_another_shape() -> None:
    to = Builder(2)
    assert code(to.returns(to.reshape(to.insert(to.reshape(0), 1)))) is None


def test_an_argument_that_is_also_returned() -> None:
    to = Builder(2)
    reuse = to.returns(0, to.elementwise(1), to.opaque(0))
    assert code(reuse, 0, 1) == "returned-unchanged"
    assert code(reuse, 0, 2) is None
    assert code(reuse, 0, 0) is None


def test_a_result_that_is_another_argument() -> None:
    to = Builder(3)
    reuse = to.returns(1, to.elementwise(0))
    assert code(reuse, 0, 0) == "result-unchanged"
    assert code(reuse, 2, 0) is None


def test_a_result_that_is_another_argument_changed() -> None:
    to = Builder(2)
    assert code(to.returns(to.insert(1, to.constant()))) == "result-changed"


def test_a_result_that_is_a_constant() -> None:
    to = Builder(1)
    assert code(to.returns(to.constant())) == "result-constant"
    assert code(to.returns(to.opaque(to.elementwise(to.constant())))) == "result-constant"
    assert code(to.returns(to.broadcast(to.constant()))) is None


def test_a_branch_that_returns_another_argument() -> None:
    to = Builder(3)
    assert code(to.returns(to.choice(2, to.elementwise(0), 1))) == "branch-unchanged"


def test_an_argument_that_is_changed_for_something_else() -> None:
    to = Builder(2)
    reuse = to.returns(to.opaque(to.insert(0, 1), 0))
    assert code(reuse) == "read-after-write"


@pytest.mark.parametrize("name", ["result-unchanged", "returned-unchanged", "result-constant"])
def test_a_conflict_without_an_operation_is_a_sentence(name: str) -> None:
    assert "None" not in str(Conflict(name))


def test_a_conflict_says_which_operation_and_where() -> None:
    to = Builder(2)
    found = to.returns(to.elementwise(1), to.opaque(0)).conflict(0, 0)
    assert found == Conflict("read-after-write", "dot_general", "line 1")
    assert str(found) == (
        "it is read by dot_general at line 1, which nothing orders before the write"
    )


# What plays no part


def test_what_nothing_needs_reads_nothing() -> None:
    to = Builder(2)
    to.opaque(0)
    assert code(to.returns(to.elementwise(1))) is None


def test_what_runs_for_its_side_effect_reads() -> None:
    to = Builder(2)
    to.opaque(0)
    to.graph.kept.add(0)
    assert code(to.returns(to.elementwise(1))) == "read-after-write"


def test_an_argument_that_nothing_reads_gives_its_buffer_to_any_result() -> None:
    to = Builder(3)
    reuse = to.returns(to.opaque(1), to.indexed(2))
    assert [code(reuse, 0, 0), code(reuse, 0, 1)] == [None, None]


def test_no_results_and_no_arguments() -> None:
    assert Builder(0).returns().copies([], []).shape == (0, 0)
    assert Builder(0).returns().next_values([], []).shape == (0, 0)


# Copies


def test_a_copy_is_saved_where_an_argument_is_returned_or_changed() -> None:
    to = Builder(3)
    reuse = to.returns(0, to.insert(1, 2))
    assert reuse.copies([0, 1], [0, 1]).tolist() == [[-1, 2], [1, -1]]


def test_a_result_that_does_not_depend_on_the_argument_is_copied_too() -> None:
    to = Builder(2)
    reuse = to.returns(to.elementwise(1), to.opaque(0))
    assert reuse.copies([0, 1], [0, 1]).tolist() == [[2, 1], [0, 2]]


def graphs() -> st.SearchStrategy[Reuse]:
    """Analyses of random graphs, whose types are two."""

    @st.composite
    def draw_one(draw: st.DrawFn) -> Reuse:
        def below(number: int) -> int:
            return draw(st.integers(0, number - 1))

        graph = random_graph(below)
        types = ("tensor<4xf32>", "tensor<4xi32>")
        return Reuse(
            graph,
            [types[not below(4)] for _ in range(graph.arguments)],
            [types[not below(4)] for _ in graph.results],
        )

    return draw_one()


@given(graphs())
def test_copies_and_conflicts_agree(reuse: Reuse) -> None:
    arguments, results = range(reuse.graph.arguments), range(len(reuse.graph.results))
    copies = reuse.copies(list(arguments), list(results))
    for argument in arguments:
        for result in results:
            conflict = reuse.conflict(argument, result)
            assert (copies[argument, result] > 0) == (conflict is not None)
            assert -1 <= copies[argument, result] <= 2
            if conflict is not None:
                assert conflict.code in REASONS
                assert str(conflict)


@given(graphs())
def test_copies_of_some_pairs_are_those_of_all(reuse: Reuse) -> None:
    arguments = list(range(reuse.graph.arguments))[::-2]
    results = list(range(len(reuse.graph.results)))[::-1]
    everything = reuse.copies(list(range(reuse.graph.arguments)), sorted(results))
    some = reuse.copies(arguments, results)
    assert some.tolist() == everything[arguments][:, results].tolist()


@given(graphs())
def test_an_argument_returned_unchanged_is_free_there_and_counts_as_no_next_value(
    reuse: Reuse,
) -> None:
    for result, value in enumerate(reuse.graph.results):
        if value < reuse.graph.arguments:
            assert reuse.is_unchanged(value, result)
            assert reuse.conflict(value, result) is None
            assert not reuse.is_next_value(value, result)
