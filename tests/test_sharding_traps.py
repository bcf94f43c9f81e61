"""What XLA answers with silence, a stack trace or a dead process, hlopass says before."""

from __future__ import annotations

from typing import Any

import pytest

import hlopass

MESH = 'sdy.mesh @mesh = <["x"=4, "y"=2]>'


def module(
    argument: str, result: str = "", body: str = "", head: str = "", shape: str = "8x8"
) -> str:
    """A program of one argument and one result of the same type, with their attributes."""
    tensor = f"tensor<{shape}xf32>"
    body = body or f"%0 = stablehlo.add %a, %a : {tensor}"
    return f"""{head}
    func.func @main(%a: {tensor} {{{argument}}}) -> ({tensor} {{{result}}}) {{
      {body}
      return %0 : {tensor}
    }}"""


def sdy(dims: str, mesh: str = "mesh") -> str:
    return f"sdy.sharding = #sdy.sharding<@{mesh}, [{dims}]>"


def gspmd(text: str) -> str:
    return f'mhlo.sharding = "{text}"'


ALIAS = "tf.aliasing_output = 0 : i32"
CONSTRAINT = (
    '%0 = stablehlo.custom_call @Sharding(%a) {mhlo.sharding = "{replicated}"}'
    " : (tensor<8x8xf32>) -> tensor<8x8xf32>"
)
TILED = "{devices=[8,1]<=[8]}"

TRAPS: dict[str, tuple[str, str]] = {
    "one mhlo.sharding among Shardy's": (
        module(sdy('{"x"}, {}'), body=CONSTRAINT, head=MESH),
        "sharding-mixed",
    ),
    "sdy.sharding on a result of a GSPMD program": (
        module(gspmd(TILED), sdy('{"x"}, {}'), head=MESH),
        "sharding-mixed",
    ),
    "6 over 4, Shardy": (module(sdy('{"x"}, {}'), head=MESH, shape="6x8"), "shard-uneven"),
    "6 over 4, GSPMD": (module(gspmd("{devices=[4,1]<=[4]}"), shape="6x8"), "shard-uneven"),
    "no sharding at all": (module(gspmd("garbage")), "sharding-unreadable"),
    "a PartitionSpec": (module(gspmd("P('x', None)")), "sharding-unreadable"),
    "manual": (module(gspmd("{manual}")), "sharding-unreadable"),
    "empty": (module(gspmd("")), "sharding-unreadable"),
    "unknown": (module(gspmd("{unknown}")), "sharding-unreadable"),
    "of another rank": (module(gspmd("{devices=[8]<=[8]}")), "sharding-unreadable"),
    "an axis twice": (module(sdy('{"x"}, {"x"}'), head=MESH), "axis-repeated"),
    "an unknown axis": (module(sdy('{"z"}, {}'), head=MESH), "axis-unknown"),
    "an unknown mesh": (module(sdy('{"x"}, {}', "other"), head=MESH), "mesh-unknown"),
    "wrong rank": (module(sdy('{"x"}'), head=MESH), "shard-rank"),
    "alias of other shards, Shardy": (
        module(sdy('{"x"}, {}') + ", " + ALIAS, sdy('{"y"}, {}'), head=MESH),
        "donate-shard-mismatch",
    ),
    "alias of other shards, GSPMD": (
        module(gspmd(TILED) + ", " + ALIAS, gspmd("{replicated}")),
        "donate-shard-mismatch",
    ),
    "alias over other axes": (
        module(sdy('{"x"}, {}') + ", " + ALIAS, sdy('{}, {"x"}'), head=MESH),
        "shard-elsewhere",
    ),
    "alias to an open result, Shardy": (
        module(sdy('{"x"}, {}') + ", " + ALIAS, head=MESH),
        "shard-result-open",
    ),
    "alias to a bare result, GSPMD": (module(gspmd(TILED) + ", " + ALIAS), "shard-result-open"),
    "another number of partitions": (
        f"module attributes {{mhlo.num_partitions = 4 : i32}} {{ {module(gspmd(TILED))} }}",
        "sharding-devices",
    ),
    "a frontend's sharding without its mesh": (
        module('mhlo.frontend_attributes = {xla.sdy.sharding = "#sdy.sharding<@mesh, [{}, {}]>"}'),
        "sharding-no-mesh",
    ),
}


OPEN = """module attributes {mhlo.num_partitions = 2 : i32} {
  func.func @main(%x: tensor<16xi32>, %y: tensor<16xi32>) -> (tensor<16xi32>, tensor<16xi32>) {
    %s = stablehlo.add %x, %x : tensor<16xi32>
    %t = stablehlo.custom_call @Sharding(%s) {mhlo.sharding = "{devices=[2]<=[2]}"}
      : (tensor<16xi32>) -> tensor<16xi32>
    return %t, %y : tensor<16xi32>, tensor<16xi32>
  }
}"""


def test_a_pair_that_propagation_could_part_is_held_together() -> None:
    rewritten = hlopass.rewrite(OPEN, donate=[{"arg": 0, "result": 0}])
    program = rewritten.program
    assert program.argument_shardings[0].is_replicated
    assert program.result_shardings[0].is_replicated
    assert 1 not in program.result_shardings
    carried = OPEN.replace("%x: tensor<16xi32>", f"%x: tensor<16xi32> {{{ALIAS}}}", 1)
    assert findings(carried) == {"shard-result-open": "warning"}


def test_only_arguments_of_gspmd() -> None:
    assert findings(module(gspmd(TILED))) == {"sharding-dropped": "warning"}
    assert findings(module(gspmd(TILED), gspmd("{replicated}"))) == {}
    assert findings(module(gspmd(TILED), body=CONSTRAINT)) == {}


def test_what_is_uneven_is_never_aliased() -> None:
    text = module(gspmd("{devices=[4,1]<=[4]}"), gspmd("{devices=[4,1]<=[4]}"), shape="6x8")
    spec = {"mesh": {"x": 4}, "allow_uneven": True}
    assert hlopass.rewrite(text, shard=spec).diagnostics == ()
    for entry in (0, {"arg": 0, "result": 0}):
        with pytest.raises(hlopass.HlopassError) as error:
            hlopass.rewrite(text, shard=spec, donate=[entry])
        assert [each.code for each in error.value.diagnostics] == ["donate-uneven"]


def findings(text: str) -> dict[str, str]:
    """The codes of what is found, with their severities."""
    try:
        found: Any = hlopass.rewrite(text).diagnostics
    except hlopass.HlopassError as error:
        found = error.diagnostics
    return {each.code: each.severity for each in found}


@pytest.mark.parametrize("name", TRAPS)
def test_a_trap_is_told(name: str) -> None:
    text, code = TRAPS[name]
    assert code in findings(text)


def test_what_is_right_is_left_alone() -> None:
    assert findings(module(sdy('{"x"}, {"y"}'), sdy('{"x"}, {"y"}'), head=MESH)) == {}
    assert findings(module(gspmd(TILED), gspmd(TILED))) == {}
    assert findings(module(gspmd("{replicated}"))) == {}
