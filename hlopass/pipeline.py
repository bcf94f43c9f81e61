"""Runs passes, in MLIR's own pass manager."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

import jaxlib.mlir.ir as ir
from jaxlib.mlir import passmanager

from hlopass.diagnostics import Diagnostic, HlopassError
from hlopass.passes._base import Pass, PassContext


def run(passes: Sequence[Pass], context: PassContext) -> bool:
    """Runs passes over the context's program in order; returns whether any changed it.

    The module is verified after each one that can change it. Raises HlopassError with all
    diagnostics so far after a pass that found errors.
    """
    program = context.program
    changed: list[str] = []
    with program.context:
        manager = passmanager.PassManager("builtin.module")
        manager.enable_verifier(False)
        for each in passes:
            manager.add(_adapt(each, context, changed), name=each.name, argument=each.name)
        try:
            manager.run(program.module.operation)
        except ir.MLIRError:
            raise HlopassError(context.diagnostics) from None
    return bool(changed)


def _adapt(
    each: Pass, context: PassContext, changed: list[str]
) -> Callable[[ir.Operation, passmanager.ExternalPass], None]:
    """A pass as MLIR calls it."""

    def callback(_: ir.Operation, external: passmanager.ExternalPass) -> None:
        module = context.program.module
        if each.run(module, context):
            changed.append(each.name)
            if each.verifies:
                _verify(module, each.name, context)
        if any(found.severity == "error" for found in context.diagnostics):
            external.signal_pass_failure()

    return callback


def _verify(module: ir.Module, name: str, context: PassContext) -> None:
    try:
        module.operation.verify()
    except ir.MLIRError as error:
        message = f"pass {name} left an invalid module: {str(error).splitlines()[-1].strip()}"
        context.emit(Diagnostic("pass-broke-module", message, context.program.where))


def default(
    pairing: Literal["flow", "order"] = "flow", spec: bool = False, sharded: bool = False
) -> list[Pass]:
    """The passes of a rewrite: donations are written, then checked as XLA will read them.

    With a spec, arguments are sharded first, as donation pairs what each device holds. In a
    program that is sharded, results come after donation, as they follow the argument whose
    buffer they got.
    """
    from hlopass.passes.check_donation import CheckDonation
    from hlopass.passes.check_sharding import CheckSharding
    from hlopass.passes.donate_args import DonateArgs

    passes: list[Pass] = [DonateArgs(pairing)]
    if spec:
        from hlopass.passes.shard_args import ShardArgs

        passes.insert(0, ShardArgs())
    if spec or sharded:
        from hlopass.passes.shard_results import ShardResults

        passes.append(ShardResults())
    return [*passes, CheckDonation(), CheckSharding()]
