"""What the child process is asked and what it answers: plain data that crosses as JSON."""

from __future__ import annotations

from typing import Literal

import msgspec

from hlopass.report import Argument, Evidence, Pair, ReportedDiagnostic, Result

Mode = Literal["compile", "run"]


class Job(msgspec.Struct, frozen=True):
    """A program to compile, or also to run; the module itself lies in a file beside it."""

    label: str
    entry: str | None = None
    mode: Mode = "run"
    seed: int = 0
    platform: str = "cpu"
    devices: int = 1


class Observed(msgspec.Struct, frozen=True):
    """One donation as the program carries it, and what was observed of it.

    `tied`: the result that the compiled alias table ties the argument to. `cost`: why its
    reuse costs a copy, if it does.
    """

    argument: Argument
    result: Result | None
    kind: Literal["alias", "donor"]
    tied: int | None
    evidence: Evidence
    cost: str | None = None


class Difference(msgspec.Struct, frozen=True):
    """The first element in which two runs differ: of a result, at a position."""

    result: Result
    position: tuple[int, ...]
    without: str
    with_: str


class Observation(msgspec.Struct, frozen=True):
    """Everything that compiling and running a program showed.

    Sizes in bytes. `results_equal` and `difference` compare the runs with and without
    donation, byte by byte; None where nothing ran.
    """

    fingerprint: str
    platform: str
    devices: int
    mode: Mode
    donations: tuple[Observed, ...]
    copies: Pair
    temp_bytes: Pair
    footprint: Pair
    results_equal: bool | None = None
    difference: Difference | None = None
    warnings: tuple[ReportedDiagnostic, ...] = ()


class Answer(msgspec.Struct, frozen=True):
    """An observation, or the diagnostics of why there is none."""

    observation: Observation | None = None
    diagnostics: tuple[ReportedDiagnostic, ...] = ()
