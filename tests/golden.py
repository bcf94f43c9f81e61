"""Runs the RUN and CHECK lines of testdata, in this process.

A file whose first lines are `// RUN: hlopass ... %s ... | filecheck %s` is run and its
CHECK lines are matched against standard output. A RUN line without filecheck is compared,
exit status and all, with the whole-text golden beside the file: `x.mlir`, `x.expected`.
`%s` is the file, `%S` its folder, `%t` an empty temporary folder; `< FILE` is standard input.
`// REQUIRES: FEATURE` skips a file where jaxlib lacks something: see FEATURES.
"""

from __future__ import annotations

import io
import re
import shlex
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jaxlib.mlir.ir as ir
from click.testing import CliRunner
from filecheck.finput import FInput
from filecheck.matcher import Matcher
from filecheck.options import Options
from filecheck.parser import Parser, pattern_for_opts

from hlopass.cli import cli
from hlopass.mesh_option import mesh_sizes

TESTDATA = Path(__file__).parent.parent / "testdata"
_RUN = re.compile(r"^(?://|#|;) ?RUN: *(.*)$")
_REQUIRES = re.compile(r"^(?://|#|;) ?REQUIRES: *(\S+)$", re.MULTILINE)
_TEST_LINE = re.compile(r"^(?://|#|;) ?(?:RUN|CHECK[-A-Z]*): .*\n", re.MULTILINE)

FEATURES: dict[str, tuple[Callable[[], bool], str]] = {
    "ssa-names": (
        lambda: hasattr(ir.BlockArgument, "set_location"),
        "this jaxlib cannot give an argument a location, so SSA names are not kept",
    ),
}
"""What a golden test may require of jaxlib: whether it is there, and the reason to skip."""


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
        result = CliRunner().invoke(
            cli, self.arguments, input=stdin, catch_exceptions=False, prog_name="hlopass"
        )
        return Outcome(result.exit_code, result.stdout_bytes, result.stderr)

    @property
    def prints_module(self) -> bool:
        """Whether standard output is the rewritten module."""
        elsewhere = {"-o", "--check"} & set(self.arguments)
        return self.arguments[:1] == ("rewrite",) and not elsewhere

    def module(self) -> bytes:
        """The module that it reads."""
        return self._path(self.arguments[1]).read_bytes()

    def option(self, name: str) -> str | None:
        """The value of an option, or None."""
        following = dict(zip(self.arguments, self.arguments[1:], strict=False))
        return following.get(name)

    def manifest(self) -> Path | None:
        """The manifest that it reads, if any."""
        named = self.option("--donate")
        return None if named is None else self._path(named)

    def sharding(self) -> dict[str, Any]:
        """The spec that it reads and what binds it, as options of `hlopass.rewrite`."""
        named, mesh, devices = map(self.option, ("--shard", "--mesh", "--devices"))
        found: dict[str, Any] = {} if named is None else {"shard": self._path(named)}
        if self.option("--existing") is not None:
            found["existing"] = self.option("--existing")
        if mesh is not None:
            found["mesh"] = mesh_sizes(mesh)
        if devices is not None:
            found["devices"] = int(devices)
        return found

    def _path(self, named: str) -> Path:
        if named != "-":
            return TESTDATA / named
        assert self.stdin is not None, "a RUN line reads standard input, but has no < FILE"
        return self.stdin


def has_feature(name: str) -> bool:
    """Whether this jaxlib has one of FEATURES."""
    return FEATURES[name][0]()


def missing_feature(path: Path) -> str | None:
    """The reason to skip a file where it requires what this jaxlib lacks."""
    for name in _REQUIRES.findall(path.read_text()):
        if not has_feature(name):
            return FEATURES[name][1]
    return None


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
    """Matches the CHECK lines of `path` against `output`; fails with filecheck's message.

    An output that is its input, comments and all, does not match its own CHECK lines.
    """
    output = _TEST_LINE.sub("", output)
    options = Options(match_filename=str(path))
    said = io.StringIO()
    with path.open() as file, redirect_stdout(said), redirect_stderr(said):
        parser = Parser(options, file, *pattern_for_opts(options))
        status = Matcher(options, FInput("<output>", output), parser).run()
    assert status == 0, f"{said.getvalue()}\n--- output\n{output}"
