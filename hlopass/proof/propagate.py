"""Shardy's own propagation, in MLIR's pass manager; nothing is compiled."""

from __future__ import annotations

from collections.abc import Callable

import jaxlib.mlir.ir as ir
from jaxlib.mlir import passmanager

from hlopass import formats
from hlopass.diagnostics import Diagnostic, HlopassError
from hlopass.jaxlib_compat import jaxlib_version
from hlopass.program import ARG_ATTRS, MESH, RESULT_ATTRS, SHARDY, Program, attribute_dicts
from hlopass.proof import prepare
from hlopass.proof.observation import Job, Propagated

PIPELINE = "sdy-propagation-pipeline"
"""What XLA runs too, between the import of shardings and their export."""


def propagate(job: Job, data: bytes, stage: Callable[[str], None]) -> Propagated:
    """The shardings of a module's arguments and results after propagation.

    `stage` is told what begins. Raises HlopassError where Shardy does not take the module.
    """
    stage("reading the module")
    program = formats.read(data, job.label, job.entry)
    prepare.as_main(program)
    stage("propagating the shardings")
    with program.context:
        try:
            manager = passmanager.PassManager.parse(f"builtin.module({PIPELINE})")
        except ValueError:
            message = f"jaxlib {jaxlib_version()} has no pipeline {PIPELINE}"
            raise HlopassError(Diagnostic("propagate-missing", message)) from None
        try:
            manager.run(program.module.operation)
        except ir.MLIRError as error:
            raise HlopassError(_refused(program, error)) from None
    return _read(Program(program.module, program.source))


def _refused(program: Program, error: ir.MLIRError) -> Diagnostic:
    """What Shardy's verifiers and passes say, as one diagnostic."""
    said = [each.message for each in error.error_diagnostics] or [str(error).splitlines()[0]]
    message = f"Shardy cannot propagate the shardings: {said[0]}"
    return Diagnostic("propagate-failed", message, program.where, notes=tuple(said[1:4]))


def _read(program: Program) -> Propagated:
    def texts(key: str, count: int) -> tuple[str | None, ...]:
        found = attribute_dicts(program.entry, key, count)
        return tuple(str(attrs[SHARDY]) if SHARDY in attrs else None for attrs in found)

    meshes = {
        ir.StringAttr(view.operation.attributes["sym_name"]).value: str(
            view.operation.attributes["mesh"]
        )
        for view in program.module.body.operations
        if view.operation.name == MESH
    }
    return Propagated(
        texts(ARG_ATTRS, len(program.arguments)), texts(RESULT_ATTRS, len(program.results)), meshes
    )
