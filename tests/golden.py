"""Runs the RUN and CHECK lines of testdata, in this process.

A file whose first lines are `// RUN: hlopass ... %s ... | filecheck %s` is run and its
CHECK lines are matched against standard output. A RUN line without filecheck is compared,
exit status and all, with the whole-text golden beside the file: `x.mlir`, `x.expected`.
`%s` is the file, `%S` its folder, `%t` an empty temporary folder.
"""

from __future__ import annotations

import io
import re
import shlex
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

from click.testing import CliRunner
from filecheck.finput import FInput
from filecheck.matcher import Matcher
from filecheck.options import Options
from filecheck.parser import Parser, pattern_for_opts

from hlopass.cli import cli

TESTDATA = Path(__file__).parent.parent / "testdata"
_RUN = re.compile(r"^(?://|#|;) ?RUN: *(.*)$")


@dataclass(frozen=True)
class Outcome:
    """What one run of the command line gave."""

    exit_code: int
    stdout: bytes
    stderr: str

    def golden(self) -> str:
        """The outcome as a whole-text golden."""
        parts = [f"exit {self.exit_code}\n"]
        if self.stdout:
            parts.append(f"--- stdout\n{self.stdout.decode()}")
        if self.stderr:
            parts.append(f"--- stderr\n{self.stderr}")
        return "".join(parts)


@dataclass(frozen=True)
class RunLine:
    """One RUN line, its substitutions made."""

    arguments: tuple[str, ...]
    stdin: Path | None
    checked: bool

    def run(self) -> Outcome:
        """Runs it with the working directory that the caller has set."""
        stdin = self.stdin.read_bytes() if self.stdin is not None else None
        result = CliRunner().invoke(cli, self.arguments, input=stdin, catch_exceptions=False)
        return Outcome(result.exit_code, result.stdout_bytes, result.stderr)


def run_lines(path: Path, temporary: Path) -> list[RunLine]:
    """The RUN lines of a file, whose paths are relative to TESTDATA."""
    relative = path.relative_to(TESTDATA)
    words = {"%s": str(relative), "%S": str(relative.parent), "%t": str(temporary)}
    return [
        _run_line(found[1], words)
        for line in path.read_text().splitlines()
        if (found := _RUN.match(line))
    ]


def _run_line(command: str, words: dict[str, str]) -> RunLine:
    pattern = re.compile("|".join(map(re.escape, words)))
    replaced = pattern.sub(lambda match: words[match[0]], command)
    head, _, tail = replaced.partition(" | ")
    assert not tail or tail.split()[0] == "filecheck", f"only filecheck may follow: {command}"
    arguments = shlex.split(head)
    assert arguments.pop(0) == "hlopass", f"RUN lines run hlopass: {command}"
    stdin = None
    if "<" in arguments:
        at = arguments.index("<")
        stdin = TESTDATA / arguments[at + 1]
        del arguments[at : at + 2]
    return RunLine(tuple(arguments), stdin, checked=bool(tail))


def filecheck(path: Path, output: str) -> None:
    """Matches the CHECK lines of `path` against `output`; fails with filecheck's message."""
    options = Options(match_filename=str(path))
    said = io.StringIO()
    with path.open() as file, redirect_stdout(said), redirect_stderr(said):
        parser = Parser(options, file, *pattern_for_opts(options))
        status = Matcher(options, FInput("<output>", output), parser).run()
    assert status == 0, f"{said.getvalue()}\n--- output\n{output}"
