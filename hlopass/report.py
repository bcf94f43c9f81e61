"""What was asked, what was observed and what follows: the shape that reports share.

`--report`, `verify --json` and the Python API show the same objects. Fields are added,
never renamed; sizes are in bytes.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from hlopass.diagnostics import Diagnostic, Where
from hlopass.donation import Donation
from hlopass.reuse import Conflict
from hlopass.shard_report import Held, Layout, Picture

Verdict = Literal["reused", "copied", "dropped", "unpaired", "not-run"]


class Struct(msgspec.Struct, frozen=True):
    """The base of everything in a report."""


class Argument(Struct, frozen=True):
    """A donated argument, by index and name."""

    index: int
    name: str | None
    type: str
    bytes: int | None


class Result(Struct, frozen=True):
    """A result that takes over an argument's buffer."""

    index: int
    name: str | None


class Evidence(Struct, frozen=True):
    """What was observed of one donation; None where it was not or cannot be.

    `aliased`: the compiled module's alias table ties the argument to a result (to the one
    asked for, where one was). `deleted`: the runtime took the input buffer away.
    `same_buffer`: for each shard, the result lies where the argument lay. `held_by`: where the
    runtime kept the buffer though the table ties it, who holds it: `numpy`, as a view, or `other`,
    which leaves no trace in Python, as a view of dlpack. `failed_run`: the first of several runs in
    which it was not reused; the other facts are those that held in all runs.
    """

    aliased: bool | None = None
    deleted: bool | None = None
    same_buffer: tuple[bool, ...] | None = None
    held_by: Literal["numpy", "other"] | None = None
    failed_run: int | None = None


class ReportedDonation(Struct, frozen=True):
    """One donation with its verdict.

    `reason` says why it is not reused, or why its reuse costs a copy; `code` is the same as
    one of a closed list (see `reasons.REASONS`).
    """

    argument: Argument
    result: Result | None
    kind: Literal["alias", "donor"]
    origin: Literal["explicit", "frontend", "names", "dataflow"]
    verdict: Verdict = "not-run"
    reason: str | None = None
    code: str | None = None
    optional: bool = False
    evidence: Evidence = Evidence()


class Pair(Struct, frozen=True, rename={"with_": "with"}):
    """A figure of the program without its donations, and with them."""

    without: int
    with_: int


class ReportedDiagnostic(Struct, frozen=True):
    """A diagnostic as data; `where` as it is printed."""

    severity: Literal["error", "warning"]
    code: str
    message: str
    where: str | None = None
    notes: tuple[str, ...] = ()
    help: str | None = None
    snippet: str | None = None


class ReportedSharding(Struct, frozen=True):
    """How an argument or a result, by index, is split over the devices.

    `asked`: as the program has it, `?` for what it leaves open; None where it says nothing.
    `obtained`: as it was compiled. Both are over the mesh's axes, as a spec has them, where
    those can say it; otherwise in XLA's words. `as_asked`: whether the blocks lie where they
    should, and are split further only where that is open; None where nothing was asked.
    `uneven`: the axes do not divide it, which XLA answers with padding or fewer blocks.
    """

    asked: str | None
    obtained: str
    argument: int | None = None
    result: int | None = None
    name: str | None = None
    as_asked: bool | None = None
    uneven: bool = False


class Collective(Struct, frozen=True):
    """What devices exchange, by kind as in HLO (`all-reduce`).

    `count`: instructions in all computations. `bytes`: of their results on one device, each
    loop gone through once.
    """

    kind: str
    count: int
    bytes: int


class Unsharded(Struct, frozen=True):
    """A sharded program held against itself on one device, unsplit.

    `footprint`: of the undonated program there, in bytes. `equal`: whether each result agrees:
    bit for bit where nothing is reduced on the way to it, otherwise within `tolerance` times its
    largest element. `exact`: how many are equal bit for bit. `largest`: the largest difference
    of the others, as a share of the largest element; `tolerance` is that of the same result.
    `reason`: why there is nothing to compare. `transfers`: what went to that device for it.
    """

    footprint: int | None = None
    equal: bool | None = None
    exact: int | None = None
    results: int | None = None
    largest: float | None = None
    tolerance: float | None = None
    reason: str | None = None
    transfers: Transfers | None = None


class Transfers(Struct, frozen=True):
    """What went to the devices: tensors, the blocks of them, and bytes.

    `read_bytes`: of values that were given, rather than made up. `least_bytes` and
    `least_read_bytes`: what cannot be less, each tensor read once, and each device given once
    what it holds. A donated input is needed again for each further run.
    """

    tensors: int = 0
    shards: int = 0
    read_bytes: int = 0
    least_read_bytes: int = 0
    bytes: int = 0
    least_bytes: int = 0


class Digest(Struct, frozen=True):
    """A result's bytes, as their SHA-256."""

    index: int
    name: str | None
    type: str
    sha256: str


Same = Literal["all", "all but donation", "all but donation and sharding", "nothing"]
"""What two programs have in common."""


class Against(Struct, frozen=True):
    """A program held against another, or against the report of one; sizes as in `Report`.

    `base`: what that is, compiled by `jaxlib`. `same`: what the programs have in common (None
    where that is not known, as of two versions of jaxlib), `lines` the first that differ. `lost`,
    `gained`: arguments that are reused in the base alone, or here alone. `copies`, `temp_bytes`,
    `footprint`: of the base, and here. `results_equal`: bit for bit, or within the tolerance that
    was given.
    """

    base: str
    jaxlib: str | None
    same: Same | None
    lines: tuple[str, str] | None
    lost: tuple[Argument, ...]
    gained: tuple[Argument, ...]
    copies: tuple[int, int]
    temp_bytes: tuple[int, int]
    footprint: tuple[int, int]
    results_equal: bool | None = None


class Probed(Struct, frozen=True):
    """What a platform answers to one question; `detail` says what was seen."""

    question: str
    answer: Literal["yes", "no", "unknown"]
    detail: str | None = None


class Probe(Struct, frozen=True):
    """What a platform does with donations. `ok`: no answer is no."""

    ok: bool
    platform: str
    device: str
    jaxlib: str
    devices: int
    answers: tuple[Probed, ...]
    version: int = 1

    def to_json(self) -> str:
        """The answers as indented JSON."""
        return msgspec.json.format(msgspec.json.encode(self), indent=1).decode() + "\n"


class Candidate(Struct, frozen=True):
    """A set of donations that was compiled to compare: copies, and bytes."""

    name: str
    copies: int
    temp_bytes: int
    footprint: int
    donations: int
    chosen: bool


class Report(Struct, frozen=True):
    """A whole report. What only a run can tell is None without one.

    `ok`: nothing that was required is missing. `footprint` is argument + output - alias +
    temp, as XLA's own peak figure leaves temp out; it and `temp_bytes` are those of one device.
    `copies` counts copy instructions in the optimized HLO. `results_equal`: bit for bit, with
    and without donation. `shardings`, `collectives`, `unsharded`: of a program on several
    devices. `transfers`: what running with and without donation took to the devices.
    `runs`: how often it was run with donation. `results`: without donation. `jaxlib`: the version.
    `against`: how it compares with another program.
    `candidates`: what `--pairing measured` compiled.
    """

    ok: bool
    fingerprint: str
    version: int = 1
    platform: str | None = None
    devices: int = 1
    donations: tuple[ReportedDonation, ...] = ()
    copies: Pair | None = None
    temp_bytes: Pair | None = None
    footprint: Pair | None = None
    reused_bytes: int | None = None
    donated_bytes: int = 0
    results_equal: bool | None = None
    shardings: tuple[ReportedSharding, ...] = ()
    collectives: tuple[Collective, ...] = ()
    unsharded: Unsharded | None = None
    transfers: Transfers | None = None
    runs: int = 1
    results: tuple[Digest, ...] = ()
    jaxlib: str | None = None
    against: Against | None = None
    diagnostics: tuple[ReportedDiagnostic, ...] = ()
    candidates: tuple[Candidate, ...] = ()

    def to_json(self) -> str:
        """The report as indented JSON."""
        return msgspec.json.format(msgspec.json.encode(self), indent=1).decode() + "\n"


class Built(Struct, frozen=True):
    """A compiled program, before anything ran; sizes in bytes, of one device.

    `key`: what tells it from any other: the module with its donations, how it is split, platform
    and jaxlib. The other fields are as those of a `Report`, of the program with its donations.
    """

    key: str
    fingerprint: str
    platform: str
    devices: int
    donations: tuple[ReportedDonation, ...]
    copies: int
    temp_bytes: int
    footprint: int
    shardings: tuple[ReportedSharding, ...] = ()
    collectives: tuple[Collective, ...] = ()
    diagnostics: tuple[ReportedDiagnostic, ...] = ()


class Inspected(Struct, frozen=True):
    """An argument or a result, with what can be said of its donation.

    `donated` and `serves`: how an argument is donated, and to which result. `could_serve`:
    the result that an undonated argument could be donated to without a copy; otherwise
    `code` (see `reasons.REASONS`) and `reason` say what stands in the way. `reuses`: the
    argument whose buffer a result takes over. `sharding` is the attribute as the program has
    it, `propagated` the `sdy.sharding` that propagation gives it, `layout` what follows of the
    latter, where there is one. `named_by`: what gave the name, as in "location" or
    "jax.result_info".
    """

    index: int
    name: str | None
    type: str
    bytes: int | None
    sharding: str | None = None
    donated: Literal["alias", "donor"] | None = None
    serves: int | None = None
    could_serve: int | None = None
    code: str | None = None
    reason: str | None = None
    reuses: int | None = None
    propagated: str | None = None
    layout: Layout | None = None
    named_by: str | None = None


class Inspection(Struct, frozen=True):
    """A program's entry: arguments, results, and bytes that donating more would save.

    `devices`: how many the program is for; `meshes`: the sizes of its meshes' axes, by name;
    `per_device`: what each of them holds; `pictures`: of the tensors that were asked for.
    """

    entry: str
    arguments: tuple[Inspected, ...]
    results: tuple[Inspected, ...]
    donated_bytes: int
    could_save_bytes: int
    version: int = 1
    diagnostics: tuple[ReportedDiagnostic, ...] = ()
    devices: int = 1
    meshes: dict[str, dict[str, int]] = {}
    per_device: Held = Held()
    propagates: bool = False
    pictures: tuple[Picture, ...] = ()

    def to_json(self) -> str:
        """The inspection as indented JSON."""
        return msgspec.json.format(msgspec.json.encode(self), indent=1).decode() + "\n"


class Reason(Struct, frozen=True):
    """Why something costs a copy: a code of `reasons.REASONS`, and a sentence."""

    code: str
    text: str


def reported(diagnostic: Diagnostic) -> ReportedDiagnostic:
    """A diagnostic as a report holds it."""
    where = None if diagnostic.where is None else str(diagnostic.where)
    return ReportedDiagnostic(
        diagnostic.severity,
        diagnostic.code,
        diagnostic.message,
        where,
        diagnostic.notes,
        diagnostic.help,
        None if diagnostic.where is None else diagnostic.where.snippet,
    )


def schema() -> dict[str, Any]:
    """The JSON Schema (2020-12) of a report."""
    return msgspec.json.schema(Report)


def describe(donation: Donation, cost: Conflict | None = None) -> ReportedDonation:
    """A donation as a report holds it, before anything was observed; `cost`: why it copies."""
    argument, result = donation.argument, donation.result
    return ReportedDonation(
        Argument(argument.index, argument.name, argument.type, argument.bytes),
        None if result is None else Result(result.index, result.name),
        donation.kind,
        donation.origin,
        reason=None if cost is None else f"costs a copy: {cost}",
        code=None if cost is None else cost.code,
        optional=donation.optional,
    )


def restored(found: ReportedDiagnostic) -> Diagnostic:
    """A diagnostic that crossed the process boundary."""
    return Diagnostic(
        found.code,
        found.message,
        None if found.where is None else Where(found.where, snippet=found.snippet),
        found.severity,
        found.notes,
        found.help,
    )
