"""From a manifest and a signature to donations: pure, with values made up here.

Without a data flow graph results are given in JAX's order.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hlopass import manifest, requests
from hlopass.diagnostics import Diagnostic
from hlopass.donation import Donation
from hlopass.planning import Plan, Planner
from hlopass.values import Role, Value

F32 = {"f32": 4, "i32": 4, "bf16": 2, "i1": 1}


def value(role: Role, index: int, type_: str, name: str | None = None, **other: Any) -> Value:
    """A value of a type such as `4xf32`, with its size."""
    count, _, element = type_.partition("x")
    fields = {"bytes": int(count) * F32[element], **other}
    return Value(role, index, name, f"tensor<{type_}>", **fields)


def arguments(*types: str) -> list[Value]:
    """Arguments called `a0`, `a1`, ... of these types."""
    return [value("argument", index, type_, f"a{index}") for index, type_ in enumerate(types)]


def results(*types: str) -> list[Value]:
    """Results called `r0`, `r1`, ... of these types."""
    return [value("result", index, type_, f"r{index}") for index, type_ in enumerate(types)]


def plan(
    data: Any, given: Sequence[Value], made: Sequence[Value], existing: Sequence[Donation] = ()
) -> Plan:
    """The plan for a manifest and what a program carries."""
    asked_for = manifest.from_data(data)
    asked = requests.read(asked_for, "m.json", given, made)
    return Planner(given, made, asked_for.automatic, None).run(asked, existing)


def pairs(found: Plan) -> dict[int, int | str]:
    """Argument to result, or to `donor`."""
    return {
        each.argument.index: each.kind if each.result is None else each.result.index
        for each in found.donations
    }


def errors(found: Plan) -> list[str]:
    """The codes of a plan's errors."""
    return [each.code for each in found.diagnostics if each.severity == "error"]


def warnings(found: Plan) -> list[str]:
    """The codes of a plan's warnings."""
    return [each.code for each in found.diagnostics if each.severity == "warning"]


def only(found: Plan, code: str) -> Diagnostic:
    """The only diagnostic of a plan, which has this code."""
    (diagnostic,) = found.diagnostics
    assert diagnostic.code == code, str(diagnostic)
    return diagnostic


def carried(argument: Value, result: Value | None) -> Donation:
    """A donation that the frontend wrote."""
    return Donation(argument, result, "donor" if result is None else "alias", "frontend")


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ([], {}),
        ([0], {0: 0}),
        (["a1"], {1: 0}),
        ([1, 0], {0: 0, 1: 1}),
        (["a*"], {0: 0, 1: 1}),
        ([{"arg": 0, "result": 1}], {0: 1}),
        ([{"arg": 0, "result": "r1"}, 1], {0: 1, 1: 0}),
        ([{"arg": "a*", "as": "donor"}], {0: "donor", 1: "donor"}),
        (["a*", {"arg": "a0", "as": "donor"}], {0: "donor", 1: 0}),
        ([{"arg": "a0", "as": "donor"}, "a*"], {0: "donor", 1: 0}),
        (["a0", 0, "0"], {0: 0}),
        ([{"arg": "none", "optional": True}, {"arg": "x*", "optional": True}], {}),
        ({"donate": ["*"], "keep": ["a0"]}, {1: 0}),
        ({"donate": ["*"], "keep": ["*"]}, {}),
    ],
)
def test_explicit(data: Any, expected: dict[int, int | str]) -> None:
    found = plan(data, arguments("4xf32", "4xf32"), results("4xf32", "4xf32"))
    assert pairs(found) == expected
    assert [each for each in found.diagnostics if each.severity == "error"] == []
    assert {each.origin for each in found.donations} <= {"explicit"}


@pytest.mark.parametrize(
    ("given", "made", "expected"),
    [
        (["4xf32", "8xf32"], ["8xf32", "4xf32"], {0: 1, 1: 0}),
        (["4xi32", "4xf32"], ["4xf32", "4xi32"], {0: 1, 1: 0}),
        (["4xi32", "4xf32"], ["4xf32", "16xi1"], {0: 1, 1: 0}),
        (["8xbf16"], ["4xf32"], {0: 0}),
        (["4xf32", "4xf32", "4xf32"], ["4xf32", "4xf32", "4xf32"], {0: 0, 1: 1, 2: 2}),
    ],
)
def test_the_same_type_first_then_the_same_size(
    given: list[str], made: list[str], expected: dict[int, int]
) -> None:
    found = plan(["*"], arguments(*given), results(*made))
    assert pairs(found) == expected and found.diagnostics == []


def test_memory_kinds_are_not_crossed() -> None:
    given = [value("argument", 0, "4xf32", memory_kind="pinned_host")]
    made = results("4xf32")
    diagnostic = only(plan([0], given, made), "donate-memory-kind")
    assert "pinned_host" in str(diagnostic)
    host = [*made, value("result", 1, "4xf32", memory_kind="pinned_host")]
    assert pairs(plan([0], given, host)) == {0: 1}


def test_what_the_frontend_wrote_stays_and_its_results_are_not_given_away() -> None:
    given, made = arguments("4xf32", "4xf32", "4xf32"), results("4xf32", "4xf32")
    existing = [carried(given[0], made[0]), carried(given[2], None)]
    found = plan(["a1"], given, made, existing)
    assert pairs(found) == {0: 0, 1: 1, 2: "donor"}
    assert [each.origin for each in found.donations] == ["frontend", "explicit", "frontend"]


def test_an_explicit_donation_beats_the_frontends_on_the_same_argument() -> None:
    given, made = arguments("4xf32", "4xf32"), results("4xf32", "4xf32")
    existing = [carried(given[0], made[0]), carried(given[1], None)]
    found = plan([{"arg": 0, "as": "donor"}, {"arg": 1, "result": 0}], given, made, existing)
    assert pairs(found) == {0: "donor", 1: 0} and found.diagnostics == []


def test_an_explicit_donation_wins_a_result_from_the_frontend() -> None:
    given, made = arguments("4xf32", "4xf32"), results("4xf32", "4xf32")
    found = plan([{"arg": 1, "result": 0}], given, made, [carried(given[0], made[0])])
    assert pairs(found) == {1: 0}
    assert found.cleared == [given[0]]
    diagnostic = only(found, "frontend-alias-lost")
    assert diagnostic.severity == "warning"
    assert "argument 0 'a0' loses result 0 'r0', which argument 1 'a1' takes" in str(diagnostic)


def test_keep_clears_what_the_frontend_wrote() -> None:
    given, made = arguments("4xf32"), results("4xf32")
    found = plan({"keep": [0]}, given, made, [carried(given[0], made[0])])
    assert found.donations == [] and found.cleared == [given[0]] and found.diagnostics == []


def test_off_clears_everything_of_the_frontends() -> None:
    given, made = arguments("4xf32", "4xf32", "4xf32"), results("4xf32", "4xf32")
    existing = [carried(given[0], made[0]), carried(given[1], None)]
    found = plan({"donate": [2], "automatic": "off"}, given, made, existing)
    assert pairs(found) == {2: 0}
    assert {each.index for each in found.cleared} >= {0, 1}


@pytest.mark.parametrize(
    ("entry", "code", "words"),
    [
        ({"arg": "a0", "result": 1}, "donate-size-mismatch", ["16 bytes", "8 bytes", "0 'r0'"]),
        ({"arg": "a1"}, "donate-no-result", ["a1", "32 bytes", "16, 8 bytes"]),
        ({"arg": "a1", "result": 0}, "donate-size-mismatch", ["no result has 32 bytes"]),
        ({"arg": "a2"}, "donate-impossible", ["its shape is dynamic"]),
        ({"arg": "a3"}, "donate-impossible", ["it is a constant"]),
        ({"arg": 0, "result": 2}, "donate-impossible", ["result 2", "its shape is dynamic"]),
    ],
)
def test_mistakes(entry: dict[str, Any], code: str, words: list[str]) -> None:
    given = [
        *arguments("4xf32", "8xf32"),
        value("argument", 2, "4xf32", "a2", bytes=None, obstacle="its shape is dynamic"),
        value("argument", 3, "4xf32", "a3", internal="a constant of the frontend"),
    ]
    made = [
        *results("4xf32", "2xf32"),
        value("result", 2, "4xf32", "r2", bytes=None, obstacle="its shape is dynamic"),
    ]
    found = plan([entry], given, made)
    diagnostic = only(found, code)
    assert diagnostic.severity == "error" and pairs(found) == {}
    text = str(diagnostic)
    assert all(word in text for word in words), text
    assert "asked for by m.json#/donate/0" in text
    optional = plan([{**entry, "optional": True}], given, made)
    assert only(optional, code).severity == "warning" and pairs(optional) == {}


def test_a_pattern_passes_over_what_the_frontend_added_for_itself() -> None:
    given = [value("argument", 0, "4xf32", "c", internal="a constant"), *arguments("4xf32")]
    given[1] = value("argument", 1, "4xf32", "w")
    found = plan(["*"], given, results("4xf32", "4xf32"))
    assert pairs(found) == {1: 0} and found.diagnostics == []


def test_nothing_to_reuse_is_a_warning() -> None:
    given = [value("argument", 0, "0xf32", obstacle="it holds no elements")]
    found = plan([0], given, results("4xf32"))
    assert only(found, "donate-empty").severity == "warning" and pairs(found) == {}


@pytest.mark.parametrize(
    ("data", "codes"),
    [
        ([{"arg": 0, "result": 0}, {"arg": 1, "result": 0}], ["donate-result-taken"]),
        ([0, {"arg": 0, "as": "donor"}], ["donate-twice"]),
        ([{"arg": 0, "result": 0}, {"arg": 0, "result": 1}], ["donate-twice"]),
        ([{"arg": "a*", "result": 0}], ["result-for-many"]),
        ([{"arg": 0, "result": "r*"}], ["result-for-many"]),
        (["a*", 2], ["donate-results-taken"]),
        ([9, "x", "9:", "re:(", {"arg": 0, "result": 9}], None),
        ({"keep": [9, "x"]}, ["index-out-of-range", "argument-unknown"]),
    ],
)
def test_mistakes_about_several(data: Any, codes: list[str] | None) -> None:
    found = plan(data, arguments("4xf32", "4xf32", "4xf32"), results("4xf32", "4xf32"))
    if codes is None:
        codes = [
            "index-out-of-range",
            "argument-unknown",
            "range-empty",
            "pattern-invalid",
            "index-out-of-range",
        ]
    assert errors(found) == codes


def test_both_donated_and_kept_by_name_is_worth_a_warning() -> None:
    found = plan({"donate": ["a0"], "keep": ["a0"]}, arguments("4xf32"), results("4xf32"))
    assert pairs(found) == {} and warnings(found) == ["donate-kept"]


TYPES = st.sampled_from(["4xf32", "4xi32", "8xbf16", "8xf32", "2xf32"])
ENTRIES = st.one_of(
    st.integers(0, 4),
    st.sampled_from(["a*", "1:3", "*"]),
    st.fixed_dictionaries(
        {"arg": st.integers(0, 4)},
        optional={"result": st.integers(0, 4), "optional": st.booleans()},
    ),
    st.fixed_dictionaries({"arg": st.integers(0, 4), "as": st.just("donor")}),
)


@given(
    st.lists(ENTRIES, max_size=5),
    st.lists(st.integers(0, 4), max_size=2),
    st.sampled_from(["off", "frontend", "repair", "names"]),
    st.lists(TYPES, min_size=5, max_size=5),
    st.lists(TYPES, min_size=5, max_size=5),
    st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=3),
)
def test_what_holds_for_every_plan(
    entries: list[Any],
    keep: list[int],
    automatic: str,
    given_types: list[str],
    made_types: list[str],
    wrote: list[tuple[int, int]],
) -> None:
    given, made = arguments(*given_types), results(*made_types)
    existing = [
        carried(given[argument], made[result])
        for argument, result in dict(wrote).items()
        if given[argument].bytes == made[result].bytes
    ]
    existing = list({each.result: each for each in existing}.values())
    data = {"donate": entries, "keep": keep, "automatic": automatic}
    found = plan(data, given, made, existing)
    donated = [each.argument.index for each in found.donations]
    assert donated == sorted(set(donated)), "an argument counts once, in order"
    assert not set(donated) & set(keep), "keep beats everything"
    taken = [each.result.index for each in found.donations if each.result is not None]
    assert len(taken) == len(set(taken)), "a result serves one argument"
    for each in found.donations:
        assert (each.result is None) == (each.kind == "donor")
        assert each.result is None or each.argument.bytes == each.result.bytes
        assert automatic != "off" or each.origin == "explicit"
    assert plan(data, given, made, existing) == found, "the same plan again"
