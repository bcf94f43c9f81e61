"""Writes the donations of a manifest."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import ClassVar, Literal

import jaxlib.mlir.ir as ir

from hlopass import donation_attrs, requests
from hlopass.dataflow import analyse
from hlopass.diagnostics import Diagnostic
from hlopass.passes._base import Pass, PassContext
from hlopass.planning import Plan, Planner, costs_a_copy
from hlopass.program import MODULE_ALIAS, Program
from hlopass.values import Value


@dataclass(frozen=True)
class DonateArgs(Pass):
    """Writes the manifest's donations as attributes of the entry's arguments.

    An argument tied to a result carries `tf.aliasing_output`, a donor `jax.buffer_donor`.
    What the frontend wrote stays, unless the manifest says otherwise. Where no result is
    named, `pairing=flow` takes the pairs that cost the fewest copies, `pairing=order` is
    JAX's first come first served. With the manifest `{"donate": ["w"]}`:

    ```mlir
    func.func @main(%w: tensor<4xf32>) -> tensor<4xf32>
    // becomes
    func.func @main(%w: tensor<4xf32> {tf.aliasing_output = 0 : i32}) -> tensor<4xf32>
    ```
    """

    name: ClassVar[str] = "donate-args"
    verifies: ClassVar[bool] = False
    pairing: Literal["flow", "order"] = "flow"

    def run(self, module: ir.Module, context: PassContext) -> bool:
        program, manifest = context.program, context.manifest
        asked = requests.read(manifest, context.manifest_label, program.arguments, program.results)
        reuse = functools.cache(lambda: analyse(program))
        planner = Planner(
            program.arguments,
            program.results,
            manifest.automatic,
            reuse if self.pairing == "flow" else None,
        )
        plan = planner.run(asked, donation_attrs.read(program))
        settled = {d.argument.index for d in plan.donations} | {a.index for a in plan.cleared}
        false_donors = _false_donors(program, settled)
        context.diagnostics += plan.diagnostics + [finding for _, finding in false_donors]
        costly = costs_a_copy(plan)
        if costly is not None:
            context.emit(costly)
        _refuse_module_alias(program, plan, context)
        if any(found.severity == "error" for found in plan.diagnostics):
            return False
        context.donations[:] = plan.donations
        context.costs.update(plan.costs)
        cleared = plan.cleared + [argument for argument, _ in false_donors]
        if manifest.automatic == "off":
            cleared += program.arguments
        return donation_attrs.write(program, plan.donations, cleared)


def _false_donors(program: Program, settled: set[int]) -> list[tuple[Value, Diagnostic]]:
    """Arguments that say `jax.buffer_donor = false`, which XLA takes for a yes."""
    found = []
    for argument, attrs in zip(program.arguments, program.argument_attributes(), strict=True):
        finding = donation_attrs.malformed(argument, attrs)
        if finding is None or finding.code != "donor-false" or argument.index in settled:
            continue
        meant = Diagnostic(
            finding.code,
            f"{finding.message}: the attribute is removed",
            finding.where,
            "warning",
        )
        found.append((argument, meant))
    return found


def _refuse_module_alias(program: Program, plan: Plan, context: PassContext) -> None:
    """A module's own alias table switches the arguments' aliases off."""
    table = program.module.operation.attributes
    explicit = [d for d in plan.donations if d.origin == "explicit" and d.kind == "alias"]
    if explicit and MODULE_ALIAS in table and len(ir.ArrayAttr(table[MODULE_ALIAS])):
        names = ", ".join(str(d.argument) for d in explicit[:5])
        finding = Diagnostic(
            "module-alias-overrides",
            f"cannot donate {names}: the module carries {MODULE_ALIAS}",
            program.where,
            notes=("XLA then reads that table and no argument's alias",),
            help=f"remove {MODULE_ALIAS} from the module",
        )
        plan.diagnostics.append(finding)
        context.emit(finding)
