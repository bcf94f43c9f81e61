"""Shardings that hlopass writes, held against JAX's own and against what XLA makes of them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
DIALECTS = ("shardy", "gspmd")


def lines(script: str, *arguments: str) -> list[dict[str, Any]]:
    """What a child process with many devices says, a line each."""
    done = subprocess.run(
        [sys.executable, str(HERE / script), *arguments],
        capture_output=True,
        text=True,
        env={"PYTHONPATH": f"{HERE.parent}:{HERE}", "PATH": "/usr/bin:/bin"},
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_spec_gives_what_jax_gives(dialect: str) -> None:
    answers = lines("jax_sharded.py", dialect)
    assert len(answers) >= 12
    for answer in answers:
        assert isinstance(answer["jax"], dict), answer
        assert answer["hlopass"] == answer["jax"], answer["program"]
    assert any("devices=[" in text for answer in answers for text in answer["jax"]["results"])
    assert sum(len(answer["jax"]["aliases"]) for answer in answers) >= 12


def check(dialect: str, seed: int, count: int) -> None:
    """Accepted is compiled as asked; what XLA would alter is refused."""
    accepted = refused = 0
    for answer in lines("random_specs.py", dialect, str(seed), str(count)):
        values = answer.get("values")
        if "failure" in answer:  # propagation splits one of a donated pair further
            assert "to have the same size" in answer["failure"], answer
            assert "shard-open-pair" in answer["warnings"], answer
            continue
        if not answer["codes"]:
            accepted += 1
            assert all(v["asked"] == v["obtained"] or v["open"] for v in values), answer
        elif values is not None:
            refused += 1
            assert any(value["uneven"] for value in values), answer
            if dialect == "shardy":  # GSPMD keeps what it pads
                assert any(value["asked"] != value["obtained"] for value in values), answer
    assert accepted > count / 5 and refused > count / 10


@pytest.mark.parametrize("dialect", DIALECTS)
def test_what_is_accepted_is_compiled_as_asked(dialect: str) -> None:
    check(dialect, 1, 120)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [2, 3, 4])
@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_same_of_many_more(dialect: str, seed: int) -> None:
    check(dialect, seed, 1000)
