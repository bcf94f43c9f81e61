"""Writes the same donations in another form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import jaxlib.mlir.ir as ir

from hlopass import alias_table, donation_attrs
from hlopass.dataflow import analyse
from hlopass.diagnostics import Diagnostic
from hlopass.donation import Donation
from hlopass.pairing import FlowPairing
from hlopass.passes._base import Pass, PassContext
from hlopass.program import MODULE_ALIAS, Program


@dataclass(frozen=True)
class ConvertDonation(Pass):
    """Writes the same donations in another form: some consumers read only one.

    `to=alias`: donors are paired with free results by data flow; one without a result of
    its size stays a donor. `to=donor`: aliases become donors, whose results XLA chooses by
    size. `to=module`: aliases move to the module's `mhlo.input_output_alias`, which has no
    place for donors.

    ```mlir
    func.func @main(%w: tensor<4xf32> {jax.buffer_donor = true}) -> tensor<4xf32>
    // becomes, with to=alias
    func.func @main(%w: tensor<4xf32> {tf.aliasing_output = 0 : i32}) -> tensor<4xf32>
    ```
    """

    name: ClassVar[str] = "convert-donation"
    verifies: ClassVar[bool] = False
    to: Literal["alias", "donor", "module"] = "alias"

    def run(self, module: ir.Module, context: PassContext) -> bool:
        program = context.program
        before = _carried(program)
        donations = donation_attrs.read(program)
        if self.to == "donor":
            donations = [Donation(d.argument, None, "donor", d.origin) for d in donations]
        elif self.to == "alias":
            donations = _paired(program, donations)
        donors = [d for d in donations if d.result is None]
        if self.to != "donor" and donors:
            context.emit(_stays_donor(program, donors, self.to))
        donation_attrs.strip(program)
        if self.to == "module":
            alias_table.write(program, donations)
            donations = donors
        donation_attrs.write(program, donations, ())
        return before != _carried(program)


def _carried(program: Program) -> tuple[str, list[dict[str, ir.Attribute]]]:
    """All that a program says of donation, for comparing."""
    attributes = program.module.operation.attributes
    table = str(attributes[MODULE_ALIAS]) if MODULE_ALIAS in attributes else ""
    return table, program.argument_attributes()


def _paired(program: Program, donations: list[Donation]) -> list[Donation]:
    """Donations with a result for each donor that data flow finds one for."""
    taken = {d.result.index for d in donations if d.result is not None}
    free = [result for result in program.results if result.index not in taken]
    donors = [d.argument for d in donations if d.result is None]
    pairs = FlowPairing(analyse(program))(donors, free).results if donors else {}
    return [
        Donation(d.argument, program.results[pairs[d.argument.index]], "alias", d.origin)
        if d.argument.index in pairs
        else d
        for d in donations
    ]


def _stays_donor(program: Program, donors: list[Donation], to: str) -> Diagnostic:
    shown = ", ".join(str(donor.argument) for donor in donors[:5])
    more = f" and {len(donors) - 5} more" if len(donors) > 5 else ""
    reason = "no result of that size is free"
    if to == "module":
        reason = "the module's table has no place for donors"
    message = f"{shown}{more}: stays a donor, as {reason}"
    return Diagnostic("donor-stays", message, program.where, "warning")
