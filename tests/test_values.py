"""How people point at arguments and results: indices, ranges, names and patterns."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hlopass.diagnostics import HlopassError, Where
from hlopass.values import Role, Value, compile_pattern, is_pattern, select

ASKED_AT = Where("m.json", pointer="/donate/0")
FROM_JAX = "(JAX writes names with as_text(debug_info=True))"


def values(*names: str | None, role: Role = "argument") -> tuple[Value, ...]:
    """Values of 16 bytes, one for each name."""
    return tuple(Value(role, index, name, "tensor<4xf32>", 16) for index, name in enumerate(names))


def indices(selector: int | str, *names: str | None) -> list[int]:
    """The indices that a selector means among arguments with these names."""
    found = select(selector, values(*names), "argument", ASKED_AT)
    return [value.index for value in found.values]


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        (0, [0]),
        (3, [3]),
        ("2", [2]),
        ("1:3", [1, 2]),
        (":2", [0, 1]),
        ("2:", [2, 3]),
        ("0:4", [0, 1, 2, 3]),
        ("w", [0]),
        ("state['w']", [1]),
        ("state*", [1, 2]),
        ("state['?']", [1, 2]),
        ("*['w']", [1]),
        ("*", [0, 1, 2]),
        ("re:.*w.*", [0, 1]),
        (r"re:state\['[wb]'\]", [1, 2]),
    ],
)
def test_what_is_meant(selector: int | str, expected: list[int]) -> None:
    assert indices(selector, "w", "state['w']", "state['b']", None) == expected


@pytest.mark.parametrize(
    ("selector", "exact"),
    [(0, True), ("0", True), ("w", True), ("w*", False), ("0:1", False), ("re:w", False)],
)
def test_exact_means_one_value_rather_than_a_set(selector: int | str, exact: bool) -> None:
    assert select(selector, values("w"), "argument", ASKED_AT).exact is exact


@pytest.mark.parametrize("name", ["1", "0:2", "a*", "a?c", "re:a", "a[b]", "*", "", " "])
def test_a_name_means_itself_whatever_it_looks_like(name: str) -> None:
    assert indices(name, "abc", name, "abd") == [1]


def test_star_means_all_where_nothing_has_a_name() -> None:
    assert indices("*", None, None) == [0, 1]


@pytest.mark.parametrize(
    ("selector", "code", "words"),
    [
        (4, "index-out-of-range", ["no argument 4", "0 to 3"]),
        (-1, "index-out-of-range", ["no argument -1", "0 to 3"]),
        ("17", "index-out-of-range", ["no argument 17", "0 to 3"]),
        ("2:9", "index-out-of-range", ["'2:9'", "0 to 3"]),
        ("2:2", "range-empty", ["'2:2'", "not included"]),
        ("3:1", "range-empty", ["'3:1'"]),
        ("9:", "range-empty", ["'9:'"]),
        ("x", "argument-unknown", ["'x' is the name of no argument", "legal: 'w'"]),
        ("stat['w']", "argument-unknown", ["did you mean", "state['w']"]),
        ("x*", "argument-unknown", ["pattern 'x*' matches no argument"]),
        ("re:stat", "argument-unknown", ["pattern 're:stat' matches no argument"]),
        ("re:(", "pattern-invalid", ["'re:(' is not a regular expression"]),
        ("twice", "name-ambiguous", ["2 arguments are called 'twice': 2, 3"]),
    ],
)
def test_what_means_nothing(selector: int | str, code: str, words: list[str]) -> None:
    with pytest.raises(HlopassError) as caught:
        indices(selector, "w", "state['w']", "twice", "twice")
    (found,) = caught.value.diagnostics
    assert (found.code, found.where) == (code, ASKED_AT)
    assert all(word in str(found) for word in words), str(found)


@pytest.mark.parametrize(
    ("names", "words"),
    [
        ((), "the entry function has no results"),
        ((None,), f"the results have no names; the only result is 0 {FROM_JAX}"),
        ((None, None), f"the results have no names; results are 0 to 1 {FROM_JAX}"),
    ],
)
def test_what_would_be_legal_without_names(names: tuple[None, ...], words: str) -> None:
    with pytest.raises(HlopassError) as caught:
        select("loss", values(*names, role="result"), "result", ASKED_AT)
    (found,) = caught.value.diagnostics
    assert (found.code, found.help) == ("result-unknown", words)


def test_a_name_in_a_message_is_quoted_so_that_it_can_be_told() -> None:
    (plain, quote, line) = values("w", "p['w']", "a\nb")
    assert str(plain) == "argument 0 'w'"
    assert str(quote) == "argument 1 \"p['w']\""
    assert str(line) == r"argument 2 'a\nb'"


NAMES = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=12)


@given(NAMES.filter(lambda name: not name.startswith("re:")), st.data())
def test_a_glob_made_from_a_name_matches_it(name: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(name)))
    stop = data.draw(st.integers(start, len(name)))
    star = f"{name[:start]}*{name[stop:]}"
    marks = f"{name[:start]}{'?' * (stop - start)}{name[stop:]}"
    for glob in (star, marks):
        assert glob.startswith("re:") or compile_pattern(glob, ASKED_AT).fullmatch(name)


@given(st.text("ab[]^$.+(){}|\\'\"-!", max_size=8), st.text("ab[]", max_size=8))
def test_only_star_and_question_mark_are_special(glob: str, other: str) -> None:
    found = compile_pattern(glob, ASKED_AT)
    assert not is_pattern(glob)
    assert (found.fullmatch(other) is not None) == (glob == other)


@given(st.integers(1, 9), st.integers(0, 12), st.integers(0, 12))
def test_a_range_is_a_slice_or_an_error(count: int, start: int, stop: int) -> None:
    legal = start < stop <= count
    with contextlib.nullcontext() if legal else pytest.raises(HlopassError) as caught:
        assert indices(f"{start}:{stop}", *[None] * count) == list(range(count))[start:stop]
    if caught is not None:
        assert caught.value.diagnostics[0].code in ("range-empty", "index-out-of-range")


def test_many_stars_take_no_exponential_time() -> None:
    named = values("a" * 3000 + "b", role="argument")
    with pytest.raises(HlopassError):
        select("*a" * 25 + "*c", named, "argument", ASKED_AT)
    assert select("*a" * 25 + "*b", named, "argument", ASKED_AT).values == named
