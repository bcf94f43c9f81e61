"""What Shardy's propagation makes of the shardings that a program leaves open."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from hlopass import formats, pipeline, sharded, sharding_attrs, sharding_ops
from hlopass.diagnostics import Diagnostic, HlopassError
from hlopass.layout import Mesh
from hlopass.passes import PassContext
from hlopass.passes.convert_sharding import ConvertSharding
from hlopass.placement import Placement
from hlopass.program import SHARDY, Program
from hlopass.sharded import Sharded
from hlopass.shardspec import BoundSpec, Spec
from hlopass.values import Value


def propagate(
    program: Program,
    placement: Placement,
    timeout: float | None = None,
    progress: Callable[[str], None] | None = None,
) -> tuple[Placement, list[Diagnostic]]:
    """Propagates in a copy, in a child process that may die; with what is to be said of it.

    `placement` is that of the program as it is. What is GSPMD's is converted before, over its
    `axes` where those say it. `timeout` in seconds.

    Raises HlopassError where there is nothing to propagate, where shardings cannot be
    converted, or where Shardy refuses them; CompilerDied where the child dies.
    """
    from hlopass.proof import run
    from hlopass.proof.observation import Job

    label, uses = program.source.label, sharding_attrs.dialects(program.module)
    if not uses:
        message = "the program has no shardings: there is nothing to propagate"
        hint = "give it some with --shard"
        raise HlopassError(Diagnostic("propagate-nothing", message, program.where, help=hint))
    data = formats.write(program, "bytecode")
    found: list[Diagnostic] = []
    if sharding_ops.ignored(program.module):
        data, found = _as_xla_reads(data, program)
    if "gspmd" in uses:
        data, found = _converted(data, program, placement.axes)
    job = Job(label, program.entry_name, propagate=True)
    answer = run.propagate(data, job, timeout, progress)
    meshes = {name: Mesh.from_sdy(text) for name, text in answer.meshes.items()}
    known = {name: mesh for name, mesh in meshes.items() if mesh is not None}
    propagated = replace(
        placement,
        arguments=_read(program.arguments, answer.arguments, known),
        results=_read(program.results, answer.results, known),
        meshes=known,
        closed=True,
    )
    return propagated, found


def _read(
    values: Sequence[Value], texts: Sequence[str | None], meshes: dict[str, Mesh]
) -> dict[int, Sharded]:
    pairs = zip(values, texts, strict=True)
    return {
        value.index: sharded.shardy(text, value, meshes)
        for value, text in pairs
        if text is not None
    }


def _as_xla_reads(data: bytes, program: Program) -> tuple[bytes, list[Diagnostic]]:
    """The program without the shardings that XLA drops."""
    copy = formats.read(data, program.source.label, program.entry_name)
    for operation in sharding_ops.ignored(copy.module):
        del operation.attributes[SHARDY]
    return formats.write(copy, "bytecode"), []


def _converted(data: bytes, program: Program, axes: Mesh | None) -> tuple[bytes, list[Diagnostic]]:
    """The program with GSPMD's shardings as Shardy's, and a warning that says so."""
    copy = formats.read(data, program.source.label, program.entry_name)
    context = PassContext(copy)
    if axes is not None:
        context.shard = BoundSpec(Spec(axes.axes), axes)
    pipeline.run([ConvertSharding("shardy")], context)
    message = "the program's shardings are GSPMD's, and were converted to Shardy's before they"
    message += " were propagated"
    note = "XLA leaves such a program to GSPMD, whose own propagation may split it otherwise"
    hint = "to compile what is shown: hlopass rewrite --pipeline 'convert-sharding{to=shardy}'"
    warning = Diagnostic("propagate-converted", message, program.where, "warning", (note,), hint)
    return formats.write(copy, "bytecode"), [*context.diagnostics, warning]
