"""What users call from Python; the command line calls the same.

Nothing here prints or exits. Errors are HlopassError with `.diagnostics`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, get_args

import msgspec

from hlopass import donation_attrs, fingerprint, formats, pipeline_text
from hlopass import pipeline as pipelines
from hlopass.diagnostics import (
    Diagnostic,
    HlopassError,
    UsageError,
    Where,
    nearest_or_list,
    quoted,
)
from hlopass.donation import Donation
from hlopass.emit import Emit, emit_of
from hlopass.entry import rename_to_main
from hlopass.manifest import Automatic, Manifest
from hlopass.passes import Pass, PassContext
from hlopass.program import Program
from hlopass.report import (
    Candidate,
    Inspection,
    Probe,
    Report,
    ReportedDonation,
    describe,
    reported,
)
from hlopass.reuse import Conflict
from hlopass.sources import Donate, bytes_of, manifest_of, spec_of

if TYPE_CHECKING:
    from hlopass.compiled import Compiled
    from hlopass.mesh_option import Mesh
    from hlopass.sharding_plan import Existing
    from hlopass.shardspec import BoundSpec, Spec
    from hlopass.sources import Shard


@dataclass(frozen=True)
class Rewritten:
    """A rewritten program.

    `changed`: whether anything differs from the input. `diagnostics`: warnings; errors are
    raised. `costs`: by index of argument, why its reuse costs a copy.
    """

    program: Program = field(repr=False)
    donations: tuple[Donation, ...] = field(repr=False)
    changed: bool
    diagnostics: tuple[Diagnostic, ...] = field(repr=False)
    costs: Mapping[int, Conflict] = field(default_factory=dict, repr=False)
    candidates: tuple[Candidate, ...] = ()
    raw: bytes | None = field(default=None, repr=False)
    source: Any = field(default=None, repr=False)
    others: tuple[str, ...] = field(default=(), repr=False)
    sharding: bool = field(default=False, repr=False)

    def data(
        self, emit: Emit | str | None = None, warn: Callable[[Diagnostic], None] = lambda _: None
    ) -> bytes:
        """The program in a format, as in "portable=1.0.0.gz"; in that of the input by default.

        Where nothing changed, the input itself. `warn` is told what the format cannot say.
        """
        emit = emit_of(emit) if isinstance(emit, str) else emit
        source = self.program.source
        same = emit in (None, Emit(source.format, source.version, source.gzip))
        if same and not self.changed and self.raw is not None:
            return self.raw
        return formats.write(self.program, emit, warn)

    def check_faithful(self, data: bytes) -> None:
        """Holds what `data` gave against what came: nothing differs but what was asked.

        That is donations, and with a spec the shardings of arguments and results. Raises
        HlopassError with the first other difference, UsageError where other passes were asked.
        """
        from hlopass import fidelity

        if self.others:
            message = f"what pass {self.others[0]} changes cannot be told from a mistake"
            hint = "paranoid is for donation and the sharding of arguments and results"
            raise UsageError(Diagnostic("usage", message, help=hint))
        source = self.program.source
        assert self.raw is not None
        fidelity.check(self.raw, data, source.label, self.program.entry_name, self.sharding)

    def text(self) -> str:
        """The program as MLIR text, with locations where the input had any."""
        return self.data("text").decode()

    def bytecode(self) -> bytes:
        """The program as MLIR bytecode."""
        return self.data("bytecode")

    def exported(self) -> Any:
        """The `jax.export.Exported` that was rewritten, with the rewritten program in it.

        `hlopass.donating` makes a function of it that really donates.
        """
        if not hasattr(self.source, "mlir_module_serialized"):
            message = f"what was rewritten is no jax.export.Exported: {type(self.source).__name__}"
            raise HlopassError(Diagnostic("source-type", message))
        return replace(self.source, mlir_module_serialized=self.data())

    @cached_property
    def report(self) -> Report:
        """What was donated; without a run, every verdict is `not-run`."""
        return Report(
            ok=True,
            fingerprint=fingerprint.of(self.program),
            donations=tuple(
                describe(donation, self.costs.get(donation.argument.index))
                for donation in self.donations
            ),
            donated_bytes=sum(donation.argument.bytes or 0 for donation in self.donations),
            diagnostics=tuple(reported(diagnostic) for diagnostic in self.diagnostics),
            candidates=self.candidates,
        )


@dataclass(frozen=True)
class Proof:
    """What compiling and running a program showed. `ok`: everything required was found."""

    report: Report = field(repr=False)
    diagnostics: tuple[Diagnostic, ...] = field(repr=False)

    @property
    def ok(self) -> bool:
        """Whether everything that was required was found."""
        return self.report.ok

    @property
    def donations(self) -> tuple[ReportedDonation, ...]:
        """Each donation with its verdict and evidence."""
        return self.report.donations


def rewrite(
    source: Any,
    *,
    donate: Donate | None = None,
    automatic: Automatic | None = None,
    pairing: Literal["flow", "order", "measured"] = "flow",
    shard: Shard | None = None,
    mesh: Mesh | None = None,
    devices: int | None = None,
    existing: Existing = "error",
    allow_open: bool = False,
    pipeline: str | Sequence[Pass] | None = None,
    entry: str | None = None,
    rename_entry: bool = False,
    label: str | None = None,
    timeout: float | None = None,
    progress: Callable[[str], None] | None = None,
) -> Rewritten:
    """Writes a manifest's donations and a spec's shardings into a program.

    `source`: a path, text or bytes of any format, an `ir.Module`, a `jax.stages.Lowered` or a
    `jax.export.Exported`; it is not changed. `donate`: a manifest, as a path or as plain data.
    `automatic` overrides the manifest's. `pairing`: how results are chosen where none is named:
    by data flow, in JAX's order, or by data flow and then measured in the compiler. `shard`: a
    sharding spec, as a path, plain data, or what `load_spec` returns; `mesh` (sizes by axis, or
    "data=4,model=2") or `devices` bind it. Without a spec, a mesh names the axes that
    `convert-sharding` writes. `existing`: what becomes of shardings that the program has and
    the spec wants otherwise.
    `allow_open`: a spec whose mesh has no sizes yet is checked, and nothing of it written.
    `pipeline`: other passes than the default ones, as text or objects. `entry`: the function to
    work on, `main` by default; `rename_entry` makes it the public `main`. `label` names the
    source in diagnostics. `timeout` (seconds) and `progress` are for measuring.

    Raises HlopassError with every mistake found.
    """
    _check_option("automatic", automatic, (*get_args(Automatic), None))
    _check_option("pairing", pairing, ("flow", "order", "measured"))
    _check_option("existing", existing, ("error", "replace", "keep"))
    raw, label = bytes_of(source, label)
    wanted, manifest_label = manifest_of(donate)
    if automatic is not None:
        wanted = msgspec.structs.replace(wanted, automatic=automatic)
    program = formats.read(raw, label, entry)
    context = PassContext(program, wanted, manifest_label, existing=existing)
    renamed = False
    if rename_entry:
        renamed = rename_to_main(program.module, program.entry, Where(label))
        program.warnings = []
    context.diagnostics += program.warnings
    if shard is not None:
        _bind(context, spec_of(shard, mesh, devices), allow_open)
    elif mesh is not None:
        from hlopass import shard_inspecting

        context.mesh = shard_inspecting.named_mesh(mesh, devices)
    passes = _passes(pipeline, pairing, context)
    changed = pipelines.run(passes, context) or renamed
    candidates: tuple[Candidate, ...] = ()
    if pairing == "measured":
        from hlopass import measuring

        moved, candidates = measuring.apply(context, timeout, progress)
        changed = changed or moved
    return Rewritten(
        program,
        _donations(context),
        changed,
        tuple(context.diagnostics),
        dict(context.costs),
        candidates,
        raw,
        source,
        tuple(each.name for each in passes if each.name not in _FAITHFUL) + ("rename",) * renamed,
        sharding=context.program.is_sharded,
    )


_FAITHFUL = {
    "alias-by-dataflow",
    "alias-by-name",
    "check-donation",
    "check-sharding",
    "convert-donation",
    "donate-args",
    "shard-args",
    "shard-results",
    "strip-donation",
}
"""Passes that change nothing but donations, and shardings of arguments and results."""


def _bind(context: PassContext, spec: Spec | BoundSpec, allow_open: bool) -> None:
    """Gives passes a bound spec; one that is open is checked, or an error."""
    from hlopass.shardspec import BoundSpec

    if isinstance(spec, BoundSpec):
        context.shard = spec
        return
    if not allow_open:
        spec.bind()
    program = context.program
    found = spec.check(program.arguments, program.results)
    if any(each.severity == "error" for each in found):
        raise HlopassError([*context.diagnostics, *found])
    axes = ", ".join(map(quoted, spec.open_axes))
    message = f"mesh axes without a size: {axes}; as far as is known, the spec fits the program"
    where = Where(spec.label, pointer="/mesh")
    hint = "bind them: --mesh " + ",".join(f"{axis}=N" for axis in spec.open_axes)
    context.diagnostics += [*found, Diagnostic("mesh-open", message, where, "warning", help=hint)]


def _passes(asked: str | Sequence[Pass] | None, pairing: str, context: PassContext) -> list[Pass]:
    if asked is not None and pairing != "flow":
        in_order = f"write donate-args{{pairing={pairing}}} in the pipeline"
        hint = in_order if pairing == "order" else None
        message = "a pairing cannot be given beside a pipeline"
        raise UsageError(Diagnostic("usage", message, help=hint))
    spec = context.shard is not None
    if asked is None:
        _check_mesh(context, [])
        sharded = context.program.is_sharded
        return pipelines.default("order" if pairing == "order" else "flow", spec, sharded)
    passes = pipeline_text.parse(asked) if isinstance(asked, str) else list(asked)
    names = [each.name for each in passes]
    if context.manifest != Manifest() and "donate-args" not in names:
        message = "the pipeline has no donate-args, which alone reads a manifest and 'automatic'"
        raise UsageError(Diagnostic("usage", message, help="add donate-args to the pipeline"))
    if spec and not {"shard-args", "convert-sharding"}.intersection(names):
        message = "the pipeline has no shard-args, which writes a spec's shardings"
        raise UsageError(Diagnostic("usage", message, help="add shard-args to the pipeline"))
    _check_mesh(context, names)
    return passes


def _check_mesh(context: PassContext, names: Sequence[str]) -> None:
    if context.mesh is not None and "convert-sharding" not in names:
        message = "a mesh is given, and no spec to bind to it"
        hint = "without a spec, only convert-sharding in a pipeline takes axes from a mesh"
        raise UsageError(Diagnostic("usage", message, help=hint))


def _check_option(name: str, value: object, legal: tuple[object, ...]) -> None:
    if value not in legal:
        words = [str(each) for each in legal if each is not None]
        message = f"illegal {name} {value!r}"
        raise UsageError(Diagnostic("usage", message, help=nearest_or_list(str(value), words)))


def probe(
    platform: str = "cpu",
    *,
    timeout: float | None = None,
    progress: Callable[[str], None] | None = None,
) -> Probe:
    """What a platform does with donations: small programs are compiled and run on it.

    It happens in a child process. `timeout` in seconds. Raises CompilerDied where that crashes or
    runs out of time, HlopassError where the platform is not there.
    """
    from hlopass.proof import run
    from hlopass.proof.observation import Job

    _check_platform(platform)
    return run.probe(Job(platform, platform=platform, probe=True), timeout, progress)


def _check_platform(platform: str) -> None:
    if not re.fullmatch(r"\w+", platform):
        message = f"{quoted(platform)} is no name of a platform"
        raise UsageError(Diagnostic("usage", message, help="such as: cpu, cuda, rocm, tpu"))


def _check_numbers(devices: int | None, tolerance: float | None) -> None:
    whole = isinstance(devices, int) and not isinstance(devices, bool)
    if devices is not None and (not whole or devices < 1):
        message = f"cannot verify on {devices!r} devices"
        raise UsageError(Diagnostic("usage", message, help="legal: an integer of at least 1"))
    number = isinstance(tolerance, (int, float))
    if tolerance is not None and not (number and 0 <= tolerance < math.inf):
        message = f"cannot tolerate a difference of {tolerance!r}"
        hint = "legal: a share of a result's largest element, 0 or more"
        raise UsageError(Diagnostic("usage", message, help=hint))


def _donations(context: PassContext) -> tuple[Donation, ...]:
    """The donations that the program now carries, with who asked for them."""
    planned = {each.argument.index: each for each in context.donations}
    found = []
    for each in donation_attrs.read(context.program):
        known = planned.get(each.argument.index)
        found.append(known if known is not None and known.result == each.result else each)
    return tuple(found)


def verify(
    source: Any,
    *,
    require: Literal["all", "none"] | str | float = "all",
    max_copies: int | None = None,
    max_temp_bytes: int | None = None,
    mode: Literal["compile", "run"] = "run",
    entry: str | None = None,
    inputs: Any = None,
    runs: int = 1,
    against: Any = None,
    seed: int = 0,
    platform: str = "cpu",
    devices: int | None = None,
    tolerance: float | None = None,
    timeout: float | None = None,
    label: str | None = None,
    progress: Callable[[str], None] | None = None,
) -> Proof:
    """Compiles and runs a program with and without its donations, and compares.

    It happens in a child process. `source`: as for `rewrite`, or what `rewrite` or `compile`
    returned; of the latter, `entry`, `platform` and `devices` are what it was compiled for.
    `require`: the share of the donated bytes that must be reused, "all", "none" or "95%".
    `inputs`: a path (`.npy`, `.npz`, `.safetensors`, or a folder of these, by the arguments' names
    or indices), or a mapping from names or indices to paths and arrays, or a sequence; also
    "zeros", "made-up" or "placeholder", a type without data. Other values are made up from
    types by `seed`. Nothing is read before the program runs, but for headers.
    `runs`: how often it is run with donation. `against`: another program (as `source`), or the
    report of an earlier proof (a path that ends in `.json`, or a `Report`), to compare with: a
    donation that is reused there alone, other results, or more copies than `max_copies` beyond
    it are failures. `tolerance` is also for results of that program.
    `platform`: `cpu`, or another whose plugin for JAX is installed (`cuda`, `tpu`).
    `devices`: how many the CPU is divided into, or how many are used of another platform; as
    many as the program is for by default, and 1 verifies it unsplit. A sharded program is
    compared with itself on one device: results that something is reduced for may differ by
    `tolerance` times their largest element (by default the square root of their type's
    epsilon), others by nothing.
    `timeout` in seconds. Raises CompilerDied where the child crashes or runs out of time,
    HlopassError where the program does not compile.
    """
    from hlopass.compiled import Compiled
    from hlopass.proof.observation import Job
    from hlopass.proof.verdict import requirements
    from hlopass.proving import prove

    _check_option("mode", mode, ("compile", "run"))
    _check_numbers(devices, tolerance)
    _check_platform(platform)
    required = requirements(require, max_copies, max_temp_bytes)
    asked = source.donations if isinstance(source, Rewritten) else None
    if isinstance(source, Compiled):
        program: bytes | Compiled = source
        job = source.job
    else:
        program, label, entry = _raw(source, label, entry)
        job = Job(label, entry, platform=platform, devices=devices)
    job = msgspec.structs.replace(job, mode=mode, seed=seed, tolerance=tolerance, runs=runs)
    found = prove(program, job, inputs, against, required, asked, timeout, progress)
    return Proof(*found)


def compile(  # noqa: A001
    source: Any,
    *,
    entry: str | None = None,
    platform: str = "cpu",
    devices: int | None = None,
    label: str | None = None,
    timeout: float | None = None,
    progress: Callable[[str], None] | None = None,
) -> Compiled:
    """Compiles a program with its donations, before there is any data; nothing is moved.

    `source`, `platform` and `devices`: as for `verify`. What it returns is run with `.run(inputs)`
    as often as is wanted, and `verify` takes it too: nothing is compiled twice. It lives in a child
    process until it is closed. `timeout` in seconds, for compiling and for each run. Raises
    CompilerDied where the child crashes or runs out of time, HlopassError where the program does
    not compile.
    """
    from hlopass.compiled import Compiled
    from hlopass.proof.observation import Job

    _check_numbers(devices, None)
    _check_platform(platform)
    raw, label, entry = _raw(source, label, entry)
    job = Job(label, entry, platform=platform, devices=devices)
    asked = source.donations if isinstance(source, Rewritten) else ()
    return Compiled(raw, job, asked, timeout, progress)


def _raw(source: Any, label: str | None, entry: str | None) -> tuple[bytes, str, str | None]:
    """A source as bytes, what to call it, and its entry."""
    if isinstance(source, Rewritten):
        label = label or source.program.source.label
        return source.data(), label, entry or source.program.entry_name
    return *bytes_of(source, label), entry


def convert(
    source: Any,
    emit: Emit | str,
    *,
    label: str | None = None,
    warn: Callable[[Diagnostic], None] = lambda _: None,
) -> bytes:
    """A module in another format, otherwise as it is; it need not have an entry.

    `source`: as for `rewrite`. `emit`: FORMAT[=VERSION][.gz], as in "portable=1.0.0". `warn`
    is told what the format cannot say. Raises HlopassError where it cannot be read or written.
    """
    wanted = emit_of(emit) if isinstance(emit, str) else emit
    if isinstance(source, Rewritten):
        return source.data(wanted, warn)
    raw, label = bytes_of(source, label)
    return formats.write(formats.load_named(raw, label), wanted, warn)


def inspect(
    source: Any,
    *,
    donate: Donate | None = None,
    shard: Shard | None = None,
    mesh: Mesh | None = None,
    devices: int | None = None,
    existing: Existing = "error",
    propagate: bool = False,
    picture: int | str | Sequence[int | str] = (),
    entry: str | None = None,
    label: str | None = None,
    timeout: float | None = None,
    progress: Callable[[str], None] | None = None,
) -> Inspection:
    """A program's arguments and results: donation, what more could be donated, and sharding.

    `source`: as for `rewrite`, or what `rewrite` returned. `donate`, `shard`, `mesh`, `devices`
    and `existing`: as for `rewrite`; what it would write is shown, of a copy.
    Without a spec, `mesh` names the axes of GSPMD's tilings, and `devices` says how many there
    are where the program does not. `propagate`: also what Shardy's propagation makes of what is
    open, found in a child process within `timeout` seconds. `picture`: arguments and results
    to draw, named as in manifests.

    Raises HlopassError where it cannot be read or the spec does not fit it, CompilerDied where
    the child crashes or runs out of time.
    """
    from hlopass import inspecting, shard_inspecting
    from hlopass.shardspec import Spec

    _check_option("existing", existing, ("error", "replace", "keep"))
    spec = None if shard is None else spec_of(shard, mesh, devices)
    bound = spec.bind() if isinstance(spec, Spec) else spec
    if bound is None and donate is None:
        program = _program(source, entry, label)
        found = shard_inspecting.problems(program)
    else:
        if isinstance(source, Rewritten):
            source, label = source.data(), label or source.program.source.label
        rewritten = rewrite(
            source, donate=donate, shard=bound, existing=existing, entry=entry, label=label
        )
        program, found = rewritten.program, rewritten.diagnostics
    if bound is None:
        axes = shard_inspecting.axes(program, mesh, devices)
    else:
        axes, devices = bound.mesh, None
    names = [picture] if isinstance(picture, (int, str)) else list(picture)
    asked = shard_inspecting.Asked(axes, devices, propagate, names, timeout, progress)
    return shard_inspecting.inspect(program, inspecting.inspect(program), asked, found)


def suggest(source: Any, *, entry: str | None = None, label: str | None = None) -> str:
    """A donation manifest to start from, as YAML with a comment on every line's reason.

    It lists what a name or the data flow shows to be a result's earlier value, where reuse
    costs no copy.
    """
    from hlopass import inspecting

    return inspecting.suggestion(_program(source, entry, label))


def _program(source: Any, entry: str | None, label: str | None) -> Program:
    if isinstance(source, Rewritten):
        return source.program
    raw, label = bytes_of(source, label)
    return formats.read(raw, label, entry)
