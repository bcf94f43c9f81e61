"""Converted and stripped programs, against what XLA's two partitioners make of JAX's own."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from golden import TESTDATA
from partitioned import ask

from hlopass import api, formats
from hlopass.diagnostics import HlopassError
from hlopass.gspmd import parse_gspmd
from hlopass.proof.evidence import alias_table

NAMES = [
    "attention",
    "branch",
    "conv",
    "embedding",
    "matmul",
    "mlp",
    "open_result",
    "replicated",
    "scan",
    "several_axes",
    "step",
    "three_axes",
    "turned",
]
PASSES = ["strip-sharding", "convert-sharding{to=shardy}", "convert-sharding{to=gspmd}"]
SHARDED = re.compile(rb"\bsdy\.|mhlo\.sharding")


def rewritten(text: str, passes: str) -> str:
    """A program after some passes, none of which may find anything."""
    done = api.rewrite(text, pipeline=passes)
    assert not done.diagnostics, [str(each) for each in done.diagnostics]
    return done.text()


@pytest.fixture(scope="module")
def programs() -> dict[str, Any]:
    """JAX's programs by name, in both dialects, with what the passes make of them."""
    found: dict[str, Any] = ask({"what": "lower"})
    for each in found.values():
        each["to_gspmd"] = rewritten(each["shardy"], "convert-sharding{to=gspmd}")
        each["to_shardy"] = rewritten(each["gspmd"], "convert-sharding{to=shardy}")
        each["back"] = rewritten(each["to_gspmd"], "convert-sharding{to=shardy}")
        each["stripped"] = rewritten(each["shardy"], "strip-sharding")
    return found


@pytest.fixture(scope="module")
def compiled(programs: dict[str, Any]) -> dict[str, Any]:
    """What XLA makes of each program in each form."""
    shardy = {"shardy": True, "to_shardy": True, "back": True, "gspmd": False, "to_gspmd": False}
    modules = {
        f"{name}:{form}": (each[form], partitioner)
        for name, each in programs.items()
        for form, partitioner in shardy.items()
    }
    runs = {name: (each["stripped"], each["inputs"]) for name, each in programs.items()}
    found: dict[str, Any] = ask({"what": "compile", "compile": modules, "run": runs})
    return found


def placed(executable: Any) -> Any:
    """The tilings of an executable's parameters and results, and its alias table."""
    tilings = [
        [parse_gspmd(text, rank) for text, rank in executable[key]]
        for key in ("parameters", "results")
    ]
    assert all(tiles.valid for part in tilings for tiles in part)
    whole = [[None if tiles.is_replicated else tiles for tiles in part] for part in tilings]
    return whole, alias_table(executable["header"])


def test_the_programs_are_known(programs: dict[str, Any]) -> None:
    assert sorted(programs) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_gspmd_is_what_jax_writes(name: str, programs: dict[str, Any]) -> None:
    assert programs[name]["to_gspmd"].strip() == programs[name]["gspmd"].strip()


@pytest.mark.parametrize("name", NAMES)
def test_executables_are_sharded_alike(name: str, compiled: dict[str, Any]) -> None:
    shardy, gspmd = placed(compiled[f"{name}:shardy"]), placed(compiled[f"{name}:gspmd"])
    assert placed(compiled[f"{name}:to_shardy"]) == shardy == gspmd
    assert placed(compiled[f"{name}:to_gspmd"]) == gspmd
    assert placed(compiled[f"{name}:back"]) == shardy


@pytest.mark.parametrize("name", NAMES)
def test_a_round_trip_keeps_the_tilings(name: str, programs: dict[str, Any]) -> None:
    before = formats.read(programs[name]["shardy"], "before")
    after = formats.read(programs[name]["back"], "after")
    for old, new in (
        (before.argument_shardings, after.argument_shardings),
        (before.result_shardings, after.result_shardings),
    ):
        assert old.keys() == new.keys()
        assert all(old[index].same_as(new[index]) for index in old)
    constraints = [each["shardy"].count("sdy.sharding_constraint") for each in (programs[name],)]
    assert constraints == [programs[name]["back"].count("sdy.sharding_constraint")]


@pytest.mark.parametrize("name", NAMES)
def test_a_stripped_program_computes_the_same(
    name: str, programs: dict[str, Any], compiled: dict[str, Any]
) -> None:
    assert not SHARDED.search(programs[name]["stripped"].encode())
    assert "mhlo.num_partitions = 1 : i32" in programs[name]["stripped"]
    for ours, jaxs in zip(compiled[name], programs[name]["results"], strict=True):
        np.testing.assert_allclose(np.asarray(ours), np.asarray(jaxs), rtol=2e-5, atol=2e-6)


@pytest.mark.parametrize("name", NAMES)
def test_both_dialects_strip_to_the_same(name: str, programs: dict[str, Any]) -> None:
    assert rewritten(programs[name]["gspmd"], "strip-sharding") == programs[name]["stripped"]


def test_some_program_is_donated(compiled: dict[str, Any]) -> None:
    assert len(placed(compiled["step:to_shardy"])[1]) == 2


def sharded_files(folder: Path) -> list[Path]:
    """The files of a folder that hold shardings."""
    files = [path for path in folder.rglob("*") if path.is_file() and path.suffix != ".tsv"]
    return sorted(path for path in files if SHARDED.search(path.read_bytes()))


def modules_of(path: Path) -> list[tuple[bytes, str | None]]:
    """The modules of a file that can be read, each with its entry where it has no main."""
    data = path.read_bytes()
    chunks = re.split(rb"(?m)^// -----.*$", data) if b"// -----" in data else [data]
    found: list[tuple[bytes, str | None]] = []
    for chunk in chunks:
        names = re.findall(rb"func\.func (?:public |private )?@(\w+)\(", chunk)
        entry = None if b"@main" in chunk or not names else names[0].decode()
        try:
            formats.read(chunk, path.name, entry)
        except HlopassError:
            continue
        found.append((chunk, entry))
    return found


def try_passes(path: Path) -> int:
    """Runs each pass alone over the modules of a file; returns how many times one changed."""
    changes = 0
    for chunk, entry in modules_of(path):
        for passes in PASSES:
            try:
                once = api.rewrite(chunk, pipeline=passes, entry=entry, label=path.name)
            except HlopassError as error:
                errors = [each for each in error.diagnostics if each.severity == "error"]
                others = [
                    each for each in errors if not each.code.startswith(("sharding-", "mesh"))
                ]
                if others:
                    raise
                continue
            formats.read(once.data(), path.name, entry).module.operation.verify()
            again = api.rewrite(once.data(), pipeline=passes, entry=entry)
            assert not again.changed and again.data() == once.data(), (path, passes)
            changes += once.changed
    return changes


def test_real_modules(corpus: Path) -> None:
    files = sharded_files(corpus)
    assert sum(map(try_passes, files)) > 40


def test_golden_inputs() -> None:
    files = [path for path in sharded_files(TESTDATA) if path.suffix == ".mlir"]
    assert sum(map(try_passes, files)) > 20
