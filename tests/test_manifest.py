"""Manifest files: what is accepted, what each mistake says, and the shipped schema."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from golden import TESTDATA
from hypothesis import given
from hypothesis import strategies as st

from hlopass import manifest
from hlopass.diagnostics import HlopassError
from hlopass.manifest import DonateEntry, Manifest

SCHEMA = manifest.schema()


def mistakes(data: Any) -> list[tuple[str, str]]:
    """The code and the JSON pointer of each mistake in a manifest, in order."""
    with pytest.raises(HlopassError) as caught:
        manifest.from_data(data, "m.json")
    return [
        (found.code, str(found.where).removeprefix("m.json")) for found in caught.value.diagnostics
    ]


def loaded(path: Path, text: str | bytes) -> Manifest:
    """The manifest in a file with this text."""
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return manifest.load(path)


def test_defaults() -> None:
    assert manifest.from_data({}) == Manifest(version=1, donate=(), keep=(), automatic="frontend")
    assert DonateEntry("w") == DonateEntry("w", result=None, kind="alias", optional=False)


def test_short_and_long_forms_say_the_same() -> None:
    short = manifest.from_data([0, "w"])
    long = manifest.from_data({"donate": [{"arg": 0}, {"arg": "w", "as": "alias"}]})
    assert short.entries() == long.entries() == (DonateEntry(0), DonateEntry("w"))


def test_every_mistake_is_found_at_once() -> None:
    data = {
        "version": "1",
        "donate": [{"arg": "w", "x/y": 1}, {}, {"arg": None}, 1.5, {"arg": 0, "as": "donate"}],
        "keep": [[], True],
        "automatic": None,
        "kept": [],
    }
    assert mistakes(data) == [
        ("value-illegal", "#/version"),
        ("value-illegal", "#/automatic"),
        ("key-unknown", "#/kept"),
        ("key-unknown", "#/donate/0/x~1y"),
        ("key-missing", "#/donate/1"),
        ("value-type", "#/donate/2/arg"),
        ("value-type", "#/donate/3"),
        ("value-illegal", "#/donate/4/as"),
        ("value-type", "#/keep/0"),
        ("value-type", "#/keep/1"),
    ]


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ({"automatic": "on"}, ["illegal value 'on'", "legal: "]),
        ({"donate": [{"arg": -3}]}, ["expected an integer >= 0, got -3"]),
        ({"donate": [None]}, ["expected an integer or a string or an object, got null"]),
        ({"keep": [1.5]}, ["expected an integer or a string, got 1.5"]),
        ({"donate": [{"arg": 0, "optional": 1}]}, ["expected true or false, got 1"]),
        ({"donate": "w"}, ["expected a list, got 'w'"]),
        ({"donat": []}, ["unknown key 'donat'", "did you mean 'donate'?"]),
        ({"donate": [{}]}, ["key 'arg' is missing"]),
        ({"version": 2}, ["illegal value 2", "legal: 1"]),
        ("w", ["expected an object, got 'w'"]),
        ({"keep": "x" * 500}, ["expected a list, got 'xxx"]),
    ],
)
def test_a_mistake_says_the_value_and_what_is_legal(data: Any, words: list[str]) -> None:
    with pytest.raises(HlopassError) as caught:
        manifest.from_data(data, "m.json")
    text = str(caught.value)
    assert all(word in text for word in words), text
    assert len(text) < 300


@pytest.mark.parametrize(
    ("suffix", "text"),
    [
        (".json", '{"donate": ["w", {"arg": 1, "as": "donor"}], "keep": ["lr"]}'),
        (".JSON", '{"donate": ["w", {"arg": 1, "as": "donor"}], "keep": ["lr"]}'),
        ("", '{"donate": ["w", {"arg": 1, "as": "donor"}], "keep": ["lr"]}'),
        (".toml", 'donate = ["w", {arg = 1, as = "donor"}]\nkeep = ["lr"]\n'),
        (".yaml", "donate: [w, {arg: 1, as: donor}]\nkeep: [lr]\n"),
        (".yml", "donate:\n- w\n- arg: 1\n  as: donor\nkeep:\n- lr\n"),
    ],
)
@pytest.mark.parametrize("form", ["plain", "byte order mark", "carriage returns"])
def test_all_formats_say_the_same(tmp_path: Path, suffix: str, text: str, form: str) -> None:
    if form == "carriage returns":
        text = text.replace("\n", "\r\n")
    data = text.encode("utf-8-sig" if form == "byte order mark" else "utf-8")
    assert loaded(tmp_path / f"m{suffix}", data) == Manifest(
        donate=("w", DonateEntry(1, kind="donor")), keep=("lr",)
    )


@pytest.mark.parametrize(
    ("name", "text", "where", "words"),
    [
        ("m.json", '{"donate":\n  ["w" "m"]}', ":2:8", "not JSON: expecting ',' delimiter"),
        ("m.json", '{"keep": [], "keep": []}', "", "key 'keep' stands twice"),
        ("m.json", "[" * 100_000, "", "not JSON: nested too deeply"),
        ("m.json", f'{{"donate": [{"9" * 5000}]}}', "", "not JSON: exceeds the limit"),
        ("m.json", " \n", "", "the file is empty"),
        ("m.json", b"\xff\xfe{}", "", "not UTF-8 text: byte 0 is 0xff"),
        ("m.toml", 'donate = ["w"', ":1", "not TOML: "),
        ("m.toml", 'keep = []\nkeep = ["x"]\n', ":2:13", "not TOML: cannot overwrite a value"),
        ("m.yaml", "donate: [w\nkeep: []\n", ":2:5", "not YAML: "),
        ("m.yaml", "keep: []\nkeep: [w]\n", ":2:1", "key 'keep' stands twice"),
        ("m.yaml", "donate: [{arg: w, arg: m}]\n", ":1:19", "key 'arg' stands twice"),
        ("m.yaml", "[" * 10_000, "", "not YAML: nested too deeply"),
        ("m.yaml", "donate: [2024-13-45]\n", "", "not YAML: month must be in 1..12"),
        ("m.yaml", "a: \x00\n", "", "not YAML: "),
        ("m.yaml", "? [a]\n: b\n", ":1:3", "not YAML: found unhashable key"),
    ],
)
def test_a_file_that_cannot_be_read_says_where(
    tmp_path: Path, name: str, text: str | bytes, where: str, words: str
) -> None:
    with pytest.raises(HlopassError) as caught:
        loaded(tmp_path / name, text)
    (found,) = caught.value.diagnostics
    assert str(found.where) == f"{tmp_path / name}{where}"
    assert words in found.message


def test_yaml_keys_that_stand_twice_through_an_anchor_are_no_mistake(tmp_path: Path) -> None:
    text = "donate: [&entry {arg: w}, *entry]\nkeep: [lr]\n"
    assert loaded(tmp_path / "m.yaml", text).donate == (DonateEntry("w"), DonateEntry("w"))


# The schema: what it accepts is what is accepted.


def valid(value: Any, schema: dict[str, Any]) -> bool:
    """Whether a value fits a schema, by the keywords that the manifest's schema uses."""
    checks: dict[str, Callable[[Any], bool]] = {
        "$ref": lambda ref: valid(value, SCHEMA["$defs"][ref.rpartition("/")[2]]),
        "anyOf": lambda some: any(valid(value, each) for each in some),
        "not": lambda other: not valid(value, other),
        "enum": lambda legal: any(same(value, each) for each in legal),
        "const": lambda legal: same(value, legal),
        "type": lambda name: is_type(value, name),
        "minimum": lambda least: not is_type(value, "integer") or value >= least,
        "items": lambda item: not isinstance(value, list) or all(valid(v, item) for v in value),
        "properties": lambda known: (
            not isinstance(value, dict)
            or all(valid(value[key], known[key]) for key in value.keys() & known.keys())
        ),
        "required": lambda keys: not isinstance(value, dict) or value.keys() >= set(keys),
        "additionalProperties": lambda _: (
            not isinstance(value, dict) or value.keys() <= schema["properties"].keys()
        ),
    }
    about = {"title", "description", "default", "$defs", "$schema"}
    unknown = schema.keys() - checks.keys() - about
    assert not unknown, f"the schema uses keywords that this test does not know: {unknown}"
    return all(checks[key](schema[key]) for key in schema if key in checks)


def same(value: Any, legal: Any) -> bool:
    """Equality of JSON, in which true is not 1."""
    return type(value) is type(legal) and bool(value == legal)


def is_type(value: Any, name: str) -> bool:
    """Whether a value is of a type of JSON Schema."""
    types: dict[str, type] = {
        "object": dict,
        "array": list,
        "string": str,
        "integer": int,
        "boolean": bool,
        "null": type(None),
    }
    return isinstance(value, types[name]) and not (name == "integer" and isinstance(value, bool))


def accepted(data: Any) -> bool:
    """Whether hlopass takes a manifest."""
    try:
        manifest.from_data(data)
    except HlopassError:
        return False
    return True


def json_files() -> list[tuple[str, Any]]:
    """The name and the data of every JSON file of testdata that is one."""
    found = []
    for path in sorted(TESTDATA.glob("*/*.json")):
        with contextlib.suppress(ValueError):
            found.append((path.relative_to(TESTDATA).as_posix(), json.loads(path.read_text())))
    return found


JSON_FILES = json_files()


@pytest.mark.parametrize(("name", "data"), JSON_FILES, ids=[name for name, _ in JSON_FILES])
def test_the_schema_agrees_about_every_manifest_of_testdata(name: str, data: Any) -> None:
    assert valid(data, SCHEMA) == accepted(data), name


SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 9),
    st.sampled_from([0.5, "w", "w*", "alias", "donor"]),
)
SELECTORS = st.one_of(st.integers(0, 5), st.sampled_from(["w", "1:2", "re:x"]), SCALARS)
ENTRIES = st.fixed_dictionaries(
    {},
    optional={
        "arg": SELECTORS,
        "result": SELECTORS,
        "as": st.one_of(st.sampled_from(["alias", "donor"]), SCALARS),
        "optional": st.one_of(st.booleans(), SCALARS),
        "unknown": SCALARS,
    },
)
MANIFESTS = st.one_of(
    SCALARS,
    st.lists(st.one_of(SELECTORS, ENTRIES), max_size=3),
    st.fixed_dictionaries(
        {},
        optional={
            "version": st.one_of(st.just(1), SCALARS),
            "donate": st.one_of(st.lists(st.one_of(SELECTORS, ENTRIES), max_size=3), SCALARS),
            "keep": st.one_of(st.lists(SELECTORS, max_size=3), SCALARS),
            "automatic": st.one_of(st.sampled_from(["off", "frontend", "repair"]), SCALARS),
            "unknown": SCALARS,
        },
    ),
)


@given(MANIFESTS)
def test_the_schema_accepts_what_is_accepted(data: Any) -> None:
    assert valid(data, SCHEMA) == accepted(data), data
