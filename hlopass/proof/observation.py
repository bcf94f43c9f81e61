"""What the child process is asked and what it answers: plain data that crosses as JSON."""

from __future__ import annotations

from typing import Literal

import msgspec

from hlopass.proof.given import Given
from hlopass.report import (
    Argument,
    Collective,
    Digest,
    Evidence,
    Pair,
    Probe,
    Reason,
    ReportedDiagnostic,
    ReportedSharding,
    Result,
    Same,
    Transfers,
    Unsharded,
)

Mode = Literal["compile", "run"]


DONOR = -1
"""Stands for the result of a donor in a candidate."""


class Figures(msgspec.Struct, frozen=True):
    """What a compiled program costs: copy instructions, and bytes."""

    copies: int
    temp_bytes: int
    footprint: int


class Job(msgspec.Struct, frozen=True):
    """A program to compile, or also to run; the module itself lies in a file beside it.

    `devices`: how many there are, as many as the program is for where it is None. `tolerance`:
    how far a result may be from the unsharded program's, as a share of its largest element.
    With `candidates`, each a map from argument to result, it is compiled once for each. With
    `propagate` it is not compiled: its shardings are propagated. With `probe` there is no
    module: the platform is asked what it does with donations. `runs`: how often it is run
    with donation. `against`: what to call the program that it is held against, if any, which lies
    in the file `base` beside it. `inputs`: what was given for its
    arguments, the arrays among it in the folder `arrays`. With `stays`, the
    program is compiled, and then run as often as is asked; `memory` is a folder in memory.
    """

    label: str
    entry: str | None = None
    mode: Mode = "run"
    seed: int = 0
    platform: str = "cpu"
    devices: int | None = None
    tolerance: float | None = None
    candidates: tuple[dict[int, int], ...] = ()
    propagate: bool = False
    probe: bool = False
    runs: int = 1
    against: str | None = None
    inputs: tuple[Given, ...] = ()
    arrays: str = ""
    memory: str = ""
    stays: bool = False


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
    cost: Reason | None = None


class Difference(msgspec.Struct, frozen=True):
    """The first element in which two runs differ: of a result, at a position.

    `run`: the number of the run with donation.
    """

    result: Result
    position: tuple[int, ...]
    without: str
    with_: str
    run: int = 1


class Base(msgspec.Struct, frozen=True):
    """What was seen of the program that another is held against.

    `same`: what of the other is the same, `line` the first lines that differ. `donations`,
    `copies`, `temp_bytes`, `footprint`: with its donations. `equal` and `difference`: of results,
    its own first; None where nothing ran. `reason`: why they are not compared.
    """

    same: Same
    lines: tuple[str, str] | None
    donations: tuple[Observed, ...]
    copies: int
    temp_bytes: int
    footprint: int
    equal: bool | None = None
    difference: Difference | None = None
    reason: str | None = None


class Observation(msgspec.Struct, frozen=True):
    """Everything that compiling and running a program showed.

    Sizes in bytes. `results_equal` and `difference` compare the runs with and without
    donation, byte by byte; None where nothing ran. `repeatable`: whether two runs without
    donation agree, asked where the results differ. `shardings`, `collectives`, `unsharded`: on
    several devices; `unsharded_difference` is the first element that the unsharded program
    has otherwise, and `random` says that the program draws numbers.
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
    repeatable: bool | None = None
    shardings: tuple[ReportedSharding, ...] = ()
    collectives: tuple[Collective, ...] = ()
    unsharded: Unsharded | None = None
    unsharded_difference: Difference | None = None
    random: bool = False
    transfers: Transfers | None = None
    jaxlib: str | None = None
    runs: int = 1
    results: tuple[Digest, ...] = ()
    base: Base | None = None
    warnings: tuple[ReportedDiagnostic, ...] = ()


class Propagated(msgspec.Struct, frozen=True):
    """The `sdy.sharding` of each argument and result after propagation; the meshes by name."""

    arguments: tuple[str | None, ...]
    results: tuple[str | None, ...]
    meshes: dict[str, str]


class Answer(msgspec.Struct, frozen=True):
    """What was asked for, or the diagnostics of why there is nothing."""

    observation: Observation | None = None
    figures: tuple[Figures, ...] | None = None
    propagated: Propagated | None = None
    probe: Probe | None = None
    diagnostics: tuple[ReportedDiagnostic, ...] = ()
