"""The golden tests: every file in testdata that has a RUN line."""

from __future__ import annotations

import difflib
from pathlib import Path

import pytest
from fidelity import skeleton
from golden import TESTDATA, RunLine, filecheck, run_lines

from hlopass import api, formats

FILES = sorted(path for path in TESTDATA.rglob("*") if path.suffix in (".mlir", ".test"))
CASES = [path for path in FILES if "RUN:" in path.read_text()[:2000]]


@pytest.mark.parametrize("path", CASES, ids=[str(path.relative_to(TESTDATA)) for path in CASES])
def test_golden(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    monkeypatch.chdir(TESTDATA)
    before = path.read_bytes()
    whole: list[str] = []
    for line in run_lines(path, tmp_path):
        outcome = line.run()
        if line.checked:
            assert outcome.exit_code == 0, outcome.golden()
            filecheck(path, outcome.stdout.decode())
        else:
            whole.append(outcome.golden())
        if line.arguments[0] == "rewrite" and outcome.exit_code == 0 and outcome.stdout:
            check_rewriting(line, before, outcome.stdout)
    if whole:
        update = bool(request.config.getoption("--update-golden"))
        compare(path.with_suffix(".expected"), "".join(whole).replace(str(tmp_path), "%t"), update)
    assert path.read_bytes() == before, "a run changed its input"


def check_rewriting(line: RunLine, before: bytes, after: bytes) -> None:
    """What holds for every output, whatever was asked."""
    formats.read(after, "<output>").module.operation.verify()
    if "--rename-entry" not in line.arguments:
        assert skeleton(after) == skeleton(before), "more than donation differs"
    options = dict(zip(line.arguments, line.arguments[1:], strict=False))
    if "--automatic" not in options and "--entry" not in options:
        again = api.rewrite(after, donate=options.get("--donate"))
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
