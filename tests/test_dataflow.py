"""The graph of a program: what calls, branches, loops and custom calls become."""

from __future__ import annotations

import pytest

from hlopass import formats
from hlopass.dataflow import analyse, graph_of
from hlopass.flow import Effect, Graph
from hlopass.reuse import Reuse

T = "tensor<4xf32>"


def function(body: str, arguments: str, results: str = T) -> str:
    """A module whose `main` has this body."""
    return f"func.func @main({arguments}) -> ({results}) {{\n{body}\n}}"


def analysed(body: str, arguments: str, results: str = T, others: str = "") -> Reuse:
    """The analysis of a `main` with this body, beside other functions."""
    return analyse(formats.read(function(body, arguments, results) + others, "<test>"))


def graph(body: str, arguments: str, results: str = T, others: str = "") -> Graph:
    """The graph of a `main` with this body, beside other functions."""
    return graph_of(formats.read(function(body, arguments, results) + others, "<test>"))


def names(found: Graph) -> list[str]:
    """What a graph's operations are called."""
    return [node.name for node in found.nodes]


def code(reuse: Reuse, argument: int = 0, result: int = 0) -> str | None:
    """The code of a pair's conflict; None where it is free."""
    found = reuse.conflict(argument, result)
    return None if found is None else found.code


def nodes(found: Graph, effect: Effect) -> list[str]:
    """What the operations of one effect are called."""
    return [node.name for node in found.nodes if node.effect is effect]


# Plain operations

EFFECTS = [
    (f"%0 = stablehlo.add %a, %b : {T}", Effect.ELEMENTWISE),
    (f"%0 = stablehlo.tanh %a : {T}", Effect.COSTLY_ELEMENTWISE),
    (f"%0 = stablehlo.divide %a, %b : {T}", Effect.COSTLY_ELEMENTWISE),
    (f"%0 = stablehlo.divide %a, %c : {T}", Effect.ELEMENTWISE),
    (f"%0 = stablehlo.reverse %a, dims = [0] : {T}", Effect.INDEXED),
    (
        f"%0 = stablehlo.dynamic_update_slice %a, %b, %i : ({T}, {T}, tensor<i32>) -> {T}",
        Effect.INSERT,
    ),
    (f"%0 = stablehlo.convert %a : {T}", Effect.IDENTITY),
    (f"%0 = stablehlo.optimization_barrier %a : {T}", Effect.IDENTITY),
    (f'%0 = "stablehlo.custom_call"(%a) {{call_target_name = "f"}} : ({T}) -> {T}', Effect.OPAQUE),
    (
        f'%0 = "stablehlo.custom_call"(%a) {{call_target_name = "Sharding"}} : ({T}) -> {T}',
        Effect.IDENTITY,
    ),
    (f'%0 = "other.tanh"(%a) : ({T}) -> {T}', Effect.OPAQUE),
]


@pytest.mark.parametrize(("operation", "effect"), EFFECTS)
def test_the_effect_of_an_operation(operation: str, effect: Effect) -> None:
    constant = f"%c = stablehlo.constant dense<2.0> : {T}"
    found = graph(f"{constant}\n{operation}\nreturn %0 : {T}", f"%a: {T}, %b: {T}, %i: tensor<i32>")
    assert found.nodes[-1].effect is effect


def test_a_reshape_and_a_broadcast_by_ones_keep_the_buffer() -> None:
    body = f"""
    %0 = stablehlo.reshape %a : ({T}) -> tensor<2x2xf32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [0, 2] : (tensor<2x2xf32>) -> tensor<2x1x2xf32>
    return %1 : tensor<2x1x2xf32>"""
    reuse = analysed(body, f"%a: {T}", "tensor<2x1x2xf32>")
    assert reuse.is_unchanged(0, 0)


def test_a_broadcast_that_repeats_elements_does_not() -> None:
    body = """
    %0 = stablehlo.broadcast_in_dim %a, dims = [0] : (tensor<4xf32>) -> tensor<4x4xf32>
    return %0 : tensor<4x4xf32>"""
    assert nodes(graph(body, f"%a: {T}", "tensor<4x4xf32>"), Effect.BROADCAST)


def test_all_constants_are_one_value() -> None:
    body = f"""
    %0 = stablehlo.constant dense<1.0> : {T}
    %1 = stablehlo.constant dense<2.0> : {T}
    %2 = stablehlo.add %0, %1 : {T}
    return %2 : {T}"""
    found = graph(body, f"%a: {T}")
    assert names(found) == ["constant", "add"]
    assert found.nodes[1].operands == (1, 1)


def test_what_is_computed_twice_is_one_value() -> None:
    body = f"""
    %0 = stablehlo.multiply %a, %b : {T}
    %1 = stablehlo.multiply %a, %b : {T}
    %2 = stablehlo.subtract %0, %1 : {T}
    return %2 : {T}"""
    assert graph(body, f"%a: {T}, %b: {T}").nodes[1].operands == (2, 2)


def test_a_product_reads_what_is_transposed_for_it() -> None:
    matrix = "tensor<4x4xf32>"
    body = f"""
    %0 = stablehlo.transpose %a, dims = [1, 0] : ({matrix}) -> {matrix}
    %1 = stablehlo.dot_general %0, %b, contracting_dims = [1] x [0]
      : ({matrix}, {matrix}) -> {matrix}
    return %1 : {matrix}"""
    assert code(analysed(body, f"%a: {matrix}, %b: {matrix}", matrix)) == "not-in-place"


# Calls

CALLEE = f"""
func.func private @f(%x: {T}, %y: {T}) -> ({T}, {T}) {{
  %0 = stablehlo.add %x, %y : {T}
  return %0, %y : {T}, {T}
}}
func.func private @g(%x: {T}, %y: {T}) -> {T} {{
  %0:2 = func.call @f(%y, %x) : ({T}, {T}) -> ({T}, {T})
  %1 = stablehlo.multiply %0#0, %0#1 : {T}
  return %1 : {T}
}}"""


def test_a_call_is_written_out() -> None:
    body = f"%0:2 = func.call @f(%a, %b) : ({T}, {T}) -> ({T}, {T})\nreturn %0#0, %0#1 : {T}, {T}"
    found = graph(body, f"%a: {T}, %b: {T}", f"{T}, {T}", CALLEE)
    assert names(found) == ["add"]
    assert found.results == [2, 1]


def test_a_call_in_a_call_is_written_out() -> None:
    body = f"%0 = func.call @g(%a, %b) : ({T}, {T}) -> {T}\nreturn %0 : {T}"
    found = graph(body, f"%a: {T}, %b: {T}", T, CALLEE)
    assert [node[1:3] for node in found.nodes] == [
        (Effect.ELEMENTWISE, (1, 0)),
        (Effect.ELEMENTWISE, (2, 0)),
    ]


def test_a_function_that_is_called_twice_is_written_out_twice() -> None:
    body = f"""
    %0 = func.call @g(%a, %b) : ({T}, {T}) -> {T}
    %1 = func.call @g(%0, %b) : ({T}, {T}) -> {T}
    return %1 : {T}"""
    assert len(graph(body, f"%a: {T}, %b: {T}", T, CALLEE).nodes) == 4


def test_a_composite_is_its_decomposition() -> None:
    body = f"""
    %0 = stablehlo.composite "my.g" %a, %b {{decomposition = @g}} : ({T}, {T}) -> {T}
    return %0 : {T}"""
    assert names(graph(body, f"%a: {T}, %b: {T}", T, CALLEE)) == ["add", "multiply"]


def test_a_function_that_calls_itself_is_one_operation() -> None:
    others = f"""
    func.func private @h(%x: {T}) -> {T} {{
      %0 = func.call @h(%x) : ({T}) -> {T}
      return %0 : {T}
    }}"""
    body = f"%0 = func.call @h(%a) : ({T}) -> {T}\nreturn %0 : {T}"
    assert nodes(graph(body, f"%a: {T}", T, others), Effect.OPAQUE) == ["h"]


# Branches


def conditional(then: str, otherwise: str) -> str:
    """A body with an `if` of two branches that each return one value."""
    return f"""
    %0 = "stablehlo.if"(%p) ({{
      {then}
    }}, {{
      {otherwise}
    }}) : (tensor<i1>) -> {T}
    return %0 : {T}"""


GIVEN = f"%a: {T}, %b: {T}, %p: tensor<i1>"


def test_a_conditional_writes_its_branches_out() -> None:
    body = conditional(
        f"%1 = stablehlo.add %a, %b : {T}\nstablehlo.return %1 : {T}", f"stablehlo.return %a : {T}"
    )
    found = graph(body, GIVEN)
    assert [node[:3] for node in found.nodes] == [
        ("add", Effect.ELEMENTWISE, (0, 1)),
        ("if", Effect.CHOICE, (2, 3, 0)),
    ]
    assert set(found.nodes[1].after) == {0, 1}
    reuse = analysed(body, GIVEN)
    assert [code(reuse, 0), code(reuse, 1)] == [None, "branch-unchanged"]


def test_branches_that_return_the_same_value_are_that_value() -> None:
    same = f"stablehlo.return %a : {T}"
    assert analysed(conditional(same, same), GIVEN).is_unchanged(0, 0)


def test_a_value_is_not_known_in_another_branch() -> None:
    branch = f"%1 = stablehlo.multiply %a, %a : {T}\nstablehlo.return %1 : {T}"
    assert names(graph(conditional(branch, branch), GIVEN)) == ["multiply", "multiply", "if"]


def test_a_choice_of_three() -> None:
    body = f"""
    %0 = "stablehlo.case"(%i) ({{
      stablehlo.return %a : {T}
    }}, {{
      %1 = stablehlo.tanh %a : {T}
      stablehlo.return %1 : {T}
    }}, {{
      %1 = stablehlo.negate %a : {T}
      stablehlo.return %1 : {T}
    }}) : (tensor<i32>) -> {T}
    return %0 : {T}"""
    reuse = analysed(body, f"%a: {T}, %i: tensor<i32>")
    assert reuse.graph.nodes[-1].operands == (1, 0, 2, 3)
    assert code(reuse) is None


# Loops


def loop(returned: str, inside: str = "") -> str:
    """A body with a loop that carries a counter, %a and %b, and can see %n and %s."""
    return f"""
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %0:3 = stablehlo.while(%i = %zero, %x = %a, %y = %b) : tensor<i32>, {T}, {T}
    cond {{
      %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    }} do {{
      %one = stablehlo.constant dense<1> : tensor<i32>
      %j = stablehlo.add %i, %one : tensor<i32>
      {inside}
      stablehlo.return %j, {returned} : tensor<i32>, {T}, {T}
    }}
    return %0#1, %0#2 : {T}, {T}"""


LOOPED = f"%a: {T}, %b: {T}, %n: tensor<i32>, %s: {T}"


def test_a_loop_changes_what_it_carries_and_reads_what_it_captures() -> None:
    body = loop("%z, %w", f"%z = stablehlo.add %x, %s : {T}\n%w = stablehlo.multiply %y, %x : {T}")
    reuse = analysed(body, LOOPED, f"{T}, {T}")
    node = reuse.graph.nodes[-1]
    assert (node.name, node.effect, node.size) == ("while", Effect.UPDATE, 3)
    assert node.operands[1:3] == (0, 1)
    assert set(node.operands[3:]) == {2, 3}
    assert [code(reuse, 0, 0), code(reuse, 1, 1)] == [None, None]
    assert code(reuse, 3, 0) == "result-changed"


def test_what_a_loop_hands_on_is_not_its_result() -> None:
    reuse = analysed(loop("%z, %y", f"%z = stablehlo.add %x, %x : {T}"), LOOPED, f"{T}, {T}")
    assert reuse.is_unchanged(1, 1)
    assert 1 not in reuse.graph.nodes[-1].operands


def test_what_a_loop_hands_on_and_reads_is_captured() -> None:
    reuse = analysed(loop("%z, %y", f"%z = stablehlo.add %x, %y : {T}"), LOOPED, f"{T}, {T}")
    node = reuse.graph.nodes[-1]
    assert (node.size, node.operands[1]) == (2, 0)
    assert 1 in node.operands[2:]
    assert reuse.is_unchanged(1, 1)


def test_a_loop_that_swaps() -> None:
    reuse = analysed(loop("%y, %x"), LOOPED, f"{T}, {T}")
    assert reuse.graph.nodes[-1].size == 3
    assert [code(reuse, 0, 0), code(reuse, 0, 1)] == [None, "result-changed"]


# Other shapes of programs


def test_a_region_that_runs_in_place() -> None:
    others = 'sdy.mesh @m = <["x"=1]>\n'
    body = f"""
    %0 = sdy.manual_computation(%a, %b) in_shardings=[<@m, [{{}}]>, <@m, [{{}}]>]
        out_shardings=[<@m, [{{}}]>] manual_axes={{}} (%x: {T}, %y: {T}) {{
      %1 = stablehlo.subtract %x, %y : {T}
      sdy.return %1 : {T}
    }} : ({T}, {T}) -> {T}
    return %0 : {T}"""
    found = graph(body, f"%a: {T}, %b: {T}", T, others)
    assert [node[:3] for node in found.nodes] == [("subtract", Effect.ELEMENTWISE, (0, 1))]


def test_a_barrier_is_its_operands() -> None:
    body = f"%0:2 = stablehlo.optimization_barrier %a, %b : {T}, {T}\nreturn %0#1, %0#0 : {T}, {T}"
    reuse = analysed(body, f"%a: {T}, %b: {T}", f"{T}, {T}")
    assert [reuse.is_unchanged(1, 0), reuse.is_unchanged(0, 1)] == [True, True]


def test_the_elements_of_a_tuple_are_what_it_was_made_of() -> None:
    body = f"""
    %0 = stablehlo.tuple %a, %b : tuple<{T}, {T}>
    %1 = stablehlo.get_tuple_element %0[1] : (tuple<{T}, {T}>) -> {T}
    return %1 : {T}"""
    reuse = analysed(body, f"%a: {T}, %b: {T}")
    assert reuse.is_unchanged(1, 0)


def test_a_custom_call_that_says_which_operand_it_writes_over() -> None:
    body = f"""
    %0 = stablehlo.custom_call @f(%a, %b) {{output_operand_aliases = [
      #stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 1,
        operand_tuple_indices = []>]}} : ({T}, {T}) -> {T}
    return %0 : {T}"""
    reuse = analysed(body, f"%a: {T}, %b: {T}")
    assert [code(reuse, 0), code(reuse, 1)] == ["result-changed", None]
    assert reuse.is_next_value(1, 0)


def test_a_custom_call_with_a_side_effect_reads_though_nothing_needs_it() -> None:
    call = 'stablehlo.custom_call @f(%a) {SIDE} : (tensor<4xf32>) -> tensor<4xf32>'  # fmt: skip
    body = f"%0 = {call}\n%1 = stablehlo.negate %b : {T}\nreturn %1 : {T}"
    pure = analysed(body.replace("SIDE", ""), f"%a: {T}, %b: {T}")
    kept = analysed(body.replace("SIDE", "has_side_effect = true"), f"%a: {T}, %b: {T}")
    assert [code(pure), code(kept)] == [None, "read-after-write"]


def test_a_reduction_of_several_values() -> None:
    body = f"""
    %c = stablehlo.constant dense<0.0> : tensor<f32>
    %0:2 = stablehlo.reduce(%a init: %c), (%b init: %c) across dimensions = [0]
      : ({T}, {T}, tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
      reducer(%x: tensor<f32>, %z: tensor<f32>) (%y: tensor<f32>, %w: tensor<f32>) {{
      %1 = stablehlo.add %x, %z : tensor<f32>
      %2 = stablehlo.add %y, %w : tensor<f32>
      stablehlo.return %1, %2 : tensor<f32>, tensor<f32>
    }}
    %3 = stablehlo.broadcast_in_dim %0#0, dims = [] : (tensor<f32>) -> {T}
    %4 = stablehlo.subtract %a, %3 : {T}
    return %4 : {T}"""
    assert code(analysed(body, f"%a: {T}, %b: {T}")) is None


def test_a_place_is_that_of_the_operation() -> None:
    body = (
        f"%0 = stablehlo.negate %a : {T}\n%1 = stablehlo.negate %b : {T}\nreturn %1, %0 : {T}, {T}"
    )
    conflict = analysed(body, f"%a: {T}, %b: {T}", f"{T}, {T}").conflict(0, 0)
    assert conflict is not None
    assert conflict.place == "<test>:2:6"


def test_a_function_of_several_blocks_is_one_operation() -> None:
    text = f"""
    func.func @main(%a: {T}) -> {T} {{
      cf.br ^bb1(%a : {T})
    ^bb1(%x: {T}):
      return %x : {T}
    }}"""
    generic = text.replace(
        "cf.br ^bb1(%a : tensor<4xf32>)", '"cf.br"(%a)[^bb1] : (tensor<4xf32>) -> ()'
    )
    found = graph_of(formats.read(generic, "<test>"))
    assert [node.effect for node in found.nodes] == [Effect.OPAQUE]
