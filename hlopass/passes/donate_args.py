"""Writes the donations of a manifest."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import jaxlib.mlir.ir as ir

from hlopass import alias_table, donation_attrs, requests
from hlopass.alias_table import Table
from hlopass.dataflow import analyse
from hlopass.diagnostics import Diagnostic
from hlopass.donation import Donation
from hlopass.passes import check_donation
from hlopass.passes._base import Pass, PassContext
from hlopass.planning import Plan, Planner, costs_a_copy
from hlopass.program import ALIAS, Program
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
        table = alias_table.read(program)
        if any(found.severity == "error" for found in plan.diagnostics + table.problems):
            context.diagnostics += table.problems
            return False
        costly = costs_a_copy(plan.donations, plan.costs)
        if costly is not None:
            context.emit(costly)
        context.donations[:] = plan.donations
        context.costs.update(plan.costs)
        cleared = plan.cleared + [argument for argument, _ in false_donors]
        if manifest.automatic == "off":
            cleared += program.arguments
        moved = _move_table(program, table, plan, context)
        written = plan.donations if moved else _unlisted(plan, table)
        return donation_attrs.write(program, written, cleared) or moved


def _move_table(program: Program, table: Table, plan: Plan, context: PassContext) -> bool:
    """Moves the module's alias table into the arguments, if the plan needs that.

    As long as the table says all there is to say, it stays as it is.
    """
    if not table:
        return False
    conflicts = [found for found in check_donation.check(program) if found.code in _OVERRIDDEN]
    aliases = {d.argument.index: d for d in plan.donations if d.kind == "alias"}
    if _pairs(aliases) == _pairs(table.donations) and not conflicts:
        return False
    for found in conflicts:
        context.emit(replace(found, severity="warning", help="the module's alias is kept"))
    musts = sorted(table.musts & aliases.keys())
    if musts:
        shown = ", ".join(str(program.arguments[index]) for index in musts[:5])
        message = f"{shown}: must-alias becomes may-alias, as arguments cannot say the first"
        context.emit(Diagnostic("must-alias-lost", message, program.where, "warning"))
    attributes = program.argument_attributes()
    stale = [
        a for a in program.arguments if a.index not in aliases and ALIAS in attributes[a.index]
    ]
    donation_attrs.write(program, (), stale)
    alias_table.write(program, ())
    return True


def _pairs(donations: Mapping[int, Donation]) -> dict[int, Value | None]:
    return {index: donation.result for index, donation in donations.items()}


_OVERRIDDEN = ("module-alias-overrides", "donation-both")


def _unlisted(plan: Plan, table: Table) -> list[Donation]:
    """The donations that the module's table does not hold."""
    return [d for d in plan.donations if d.argument.index not in table.donations]


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
