"""The ledger: each tensor goes to its devices once, as its blocks, and nothing is left out."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

import hlopass
from hlopass import formats
from hlopass.proof import inputs

STEP = Path("testdata/frontends/transformer_train_step").resolve()
MOVES = Path(__file__).with_name("moves.py")


@pytest.fixture(scope="module")
def step(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The train step over four by two devices."""
    spec = yaml.safe_load(Path(f"{STEP}.shard.yaml").read_text())
    rewritten = hlopass.rewrite(
        f"{STEP}.mlir", donate=f"{STEP}.donate.json", shard=spec, mesh={"data": 4, "model": 2}
    )
    path = tmp_path_factory.mktemp("step") / "step.mlir"
    path.write_text(rewritten.text())
    return path


def moves(*arguments: str) -> dict[str, dict[str, int]]:
    command = [sys.executable, str(MOVES), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    found: dict[str, dict[str, int]] = json.loads(done.stdout.splitlines()[-1])
    return found


def as_little_as_possible(transfers: dict[str, int]) -> bool:
    """Whether nothing was read or moved that need not be."""
    return (
        transfers["bytes"] == transfers["least_bytes"]
        and transfers["read_bytes"] == transfers["least_read_bytes"]
    )


def test_each_tensor_of_the_train_step_moves_once_as_its_blocks(step: Path) -> None:
    found = moves(str(step))
    transfers, seen = found["transfers"], found["seen"]
    program = formats.read(step.read_bytes(), "step.mlir")
    held = sum(argument.held or 0 for argument in program.arguments)
    assert transfers["bytes"] == transfers["least_bytes"] == seen["bytes"] == 8 * held
    assert transfers["shards"] == seen["calls"] == 8 * len(program.arguments)
    assert transfers["tensors"] == len(program.arguments)
    assert as_little_as_possible(transfers)
    whole = sum(argument.bytes or 0 for argument in program.arguments)
    assert found["unsharded"]["bytes"] == found["unsharded"]["least_bytes"] == whole
    assert seen["unsharded"] == whole


def test_tensors_that_are_split_after_they_moved_are_found(step: Path) -> None:
    transfers = moves(str(step), "naive")["transfers"]
    assert not as_little_as_possible(transfers)
    assert transfers["bytes"] > 2 * transfers["least_bytes"]


def test_files_are_read_once_however_often_a_tensor_is_held(step: Path, tmp_path: Path) -> None:
    import numpy as np

    program = formats.read(step.read_bytes(), "step.mlir")
    made = inputs.make(program.arguments, 0, "step.mlir")
    named = {f"arr_{at}": each for at, each in enumerate(made)}
    arrays: Any = named
    np.savez(tmp_path / "x.npz", **arrays)
    proof = hlopass.verify(str(step), inputs=tmp_path / "x.npz")
    transfers = proof.report.transfers
    assert proof.ok and transfers is not None
    read = sum(each.nbytes for each in made)
    assert transfers.read_bytes == transfers.least_read_bytes == read
    assert transfers.bytes == transfers.least_bytes > read
