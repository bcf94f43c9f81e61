"""The golden tests: every file in testdata that has a RUN line."""

from __future__ import annotations

import difflib
import re
from pathlib import Path

import pytest
from golden import TESTDATA, Outcome, RunLine, filecheck, has_feature, missing_feature, run_lines

from hlopass import api, formats
from hlopass.fidelity import skeleton

FILES = sorted(
    path for path in TESTDATA.rglob("*") if path.suffix in (".mlir", ".test", ".toml", ".yaml")
)
CASES = [path for path in FILES if "RUN:" in path.read_text()[:2000]]
SILENT_SUCCESS = Outcome(0, b"", "")


@pytest.mark.parametrize("path", CASES, ids=[str(path.relative_to(TESTDATA)) for path in CASES])
def test_golden(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    if (reason := missing_feature(path)) is not None:
        pytest.skip(reason)
    monkeypatch.chdir(TESTDATA)
    before = path.read_bytes()
    lines = run_lines(path, tmp_path)
    checked = any(line.checked for line in lines)
    whole: list[str] = []
    for line in lines:
        outcome = line.run()
        if line.checked:
            assert outcome.exit_code == 0, outcome.golden()
            filecheck(path, outcome.stdout.decode())
        elif not (checked and outcome == SILENT_SUCCESS):
            whole.append(outcome.golden())
        if line.prints_module and outcome.exit_code == 0:
            check_rewriting(line, outcome.stdout)
    if whole or path.with_suffix(".expected").exists():
        update = bool(request.config.getoption("--update-golden"))
        compare(path.with_suffix(".expected"), "".join(whole).replace(str(tmp_path), "%t"), update)
    assert path.read_bytes() == before, "a run changed its input"


def check_rewriting(line: RunLine, after: bytes) -> None:
    """What holds for every output, whatever was asked."""
    entry = line.option("--entry")
    sharding = line.sharding()
    if "--rename-entry" in line.arguments:
        entry = "main"
    of_sharding = re.search("(strip|convert)-sharding", line.option("--pipeline") or "")
    if "--rename-entry" not in line.arguments and of_sharding is None:
        before = skeleton(line.module(), entry, bool(sharding))
        assert skeleton(after, entry, bool(sharding)) == before, "more than was asked differs"
    formats.read(after, "<output>", entry).module.operation.verify()
    if line.option("--automatic") is None:
        donate = line.manifest() if has_feature("ssa-names") else None
        same = line.option("--pipeline") if of_sharding else None
        again = api.rewrite(after, donate=donate, entry=entry, pipeline=same, **sharding)
        assert again.data() == after, "rewriting the output changes it again"


def compare(golden: Path, actual: str, update: bool) -> None:
    """Holds `actual` against a golden file, or rewrites the file."""
    expected = golden.read_text() if golden.exists() else ""
    if update and actual != expected:
        golden.write_text(actual)
        return
    diff = difflib.unified_diff(
        expected.splitlines(keepends=True),
        actual.splitlines(keepends=True),
        str(golden.relative_to(TESTDATA)),
        "actual",
    )
    assert actual == expected, "".join(diff) + "\nif this is right: make golden"
