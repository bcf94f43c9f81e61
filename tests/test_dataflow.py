"""The graph of a program: calls, branches and loops followed, not given up on."""

from __future__ import annotations

import pytest

from hlopass import formats
from hlopass.dataflow import analyse, graph_of
from hlopass.flow import Effect
from hlopass.reuse import Reuse

HEAD = "func.func @main(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32>"


def reuse_of(text: str) -> Reuse:
    return analyse(formats.read(text, "<test>"))


def body(lines: str, head: str = HEAD) -> str:
    return f"{head} {{\n{lines}\n}}"


CALL = """
func.func private @twice(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = func.call @double(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = func.call @double(%0) : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
func.func private @double(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.add %x, %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
""" + body("""
  %0 = func.call @twice(%a) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>""")

COMPOSITE = """
func.func private @double(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.add %x, %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
""" + body("""
  %0 = stablehlo.composite "my.double" %a {decomposition = @double}
    : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>""")

WHILE = body("""
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %ten = stablehlo.constant dense<10> : tensor<i32>
  %r:2 = stablehlo.while(%i = %zero, %x = %a) : tensor<i32>, tensor<4xf32>
  cond {
    %c = stablehlo.compare LT, %i, %ten : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %n = stablehlo.add %i, %one : tensor<i32>
    %y = stablehlo.add %x, %b : tensor<4xf32>
    stablehlo.return %n, %y : tensor<i32>, tensor<4xf32>
  }
  return %r#1 : tensor<4xf32>""")

IF = body("""
  %c = stablehlo.constant dense<true> : tensor<i1>
  %0 = "stablehlo.if"(%c) ({
    %1 = stablehlo.add %a, %b : tensor<4xf32>
    stablehlo.return %1 : tensor<4xf32>
  }, {
    stablehlo.return %a : tensor<4xf32>
  }) : (tensor<i1>) -> tensor<4xf32>
  return %0 : tensor<4xf32>""")

BARRIER = body("""
  %0:2 = stablehlo.optimization_barrier %a, %b : tensor<4xf32>, tensor<4xf32>
  %1 = stablehlo.add %0#0, %0#1 : tensor<4xf32>
  return %1 : tensor<4xf32>""")

TUPLE = body("""
  %0 = stablehlo.tuple %b, %a : tuple<tensor<4xf32>, tensor<4xf32>>
  %1 = stablehlo.get_tuple_element %0[1] : (tuple<tensor<4xf32>, tensor<4xf32>>) -> tensor<4xf32>
  %2 = stablehlo.negate %1 : tensor<4xf32>
  return %2 : tensor<4xf32>""")

ALIASED_CALL = body("""
  %0 = stablehlo.custom_call @update(%b, %a) {output_operand_aliases = [
    #stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 1,
      operand_tuple_indices = []>]} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>""")


@pytest.mark.parametrize(
    "text",
    [CALL, COMPOSITE, WHILE, BARRIER, TUPLE, ALIASED_CALL],
    ids=["call", "composite", "while", "barrier", "tuple", "aliased-call"],
)
def test_the_first_argument_is_updated_in_place(text: str) -> None:
    assert reuse_of(text).conflict(0, 0) is None


@pytest.mark.parametrize("text", [WHILE, IF, ALIASED_CALL], ids=["while", "if", "aliased-call"])
def test_what_is_only_read_there_is_not(text: str) -> None:
    assert reuse_of(text).conflict(1, 0) is not None


def test_a_branch_that_returns_what_it_captures_costs_a_copy() -> None:
    found = reuse_of(IF).conflict(0, 0)
    assert found is not None and found.code == "branch-unchanged" and found.operation == "if"


def test_equal_expressions_are_one_value() -> None:
    text = body("""
  %0 = stablehlo.add %a, %b : tensor<4xf32>
  %1 = stablehlo.tanh %0 : tensor<4xf32>
  %2 = stablehlo.add %a, %b : tensor<4xf32>
  %3 = stablehlo.multiply %1, %2 : tensor<4xf32>
  return %3 : tensor<4xf32>""")
    names = [node.name for node in graph_of(formats.read(text, "<test>")).nodes]
    assert names.count("add") == 1


def test_constants_do_not_make_expressions_equal() -> None:
    text = body("""
  %two = stablehlo.constant dense<2.0> : tensor<4xf32>
  %three = stablehlo.constant dense<3.0> : tensor<4xf32>
  %0 = stablehlo.multiply %a, %two : tensor<4xf32>
  %1 = stablehlo.multiply %a, %three : tensor<4xf32>
  %2 = stablehlo.subtract %0, %1 : tensor<4xf32>
  return %2 : tensor<4xf32>""")
    names = [node.name for node in graph_of(formats.read(text, "<test>")).nodes]
    assert names.count("multiply") == 2


@pytest.mark.parametrize(
    "lines",
    [
        '%0 = "foo.call"(%a) : (tensor<4xf32>) -> tensor<4xf32>\nreturn %0 : tensor<4xf32>',
        '%0 = "foo.reshape"() : () -> tensor<4xf32>\nreturn %0 : tensor<4xf32>',
        '"foo.end"(%a) : (tensor<4xf32>) -> ()',
        "cf.br ^next\n^next:\nreturn %a : tensor<4xf32>",
    ],
)
def test_foreign_operations_and_several_blocks_are_opaque(lines: str) -> None:
    graph = graph_of(formats.read(body(lines), "<test>"))
    assert len(graph.results) == 1
    assert any(node.effect is Effect.OPAQUE for node in graph.nodes)


def test_calls_that_multiply_end() -> None:
    functions = "\n".join(
        f"""func.func private @f{n}(%x: tensor<4xf32>) -> tensor<4xf32> {{
  %0 = func.call @f{n + 1}(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = func.call @f{n + 1}(%0) : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}}"""
        for n in range(24)
    )
    last = "func.func private @f24(%x: tensor<4xf32>) -> tensor<4xf32> {\n"
    last += " return %x : tensor<4xf32>\n}"
    main = body(
        "%0 = func.call @f0(%a) : (tensor<4xf32>) -> tensor<4xf32>\nreturn %0 : tensor<4xf32>"
    )
    assert graph_of(formats.read(f"{functions}\n{last}\n{main}", "<test>")).results
