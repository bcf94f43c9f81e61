"""Donation attributes: read from a program's entry, and written to it."""

from __future__ import annotations

from collections.abc import Iterable

import jaxlib.mlir.ir as ir

from hlopass import alias_table
from hlopass.diagnostics import Diagnostic
from hlopass.donation import Donation
from hlopass.program import ALIAS, DONOR, MODULE_ALIAS, Program
from hlopass.values import Value


def read(program: Program) -> list[Donation]:
    """The well-formed donations that XLA will see, in order of arguments.

    Where the module has an alias table, its aliases count and the arguments' do not. An
    argument with both attributes, or a malformed one, is left out: `malformed` tells.
    """
    table = alias_table.read(program)
    found = dict(table.donations)
    for argument, attrs in zip(program.arguments, program.argument_attributes(), strict=True):
        alias, donor = attrs.get(ALIAS), attrs.get(DONOR)
        if argument.index in found or (alias is None) == (donor is None):
            continue
        result = alias_index(alias)
        if result is not None and result < len(program.results) and not table:
            found[argument.index] = Donation(argument, program.results[result], "alias", "frontend")
        elif isinstance(donor, ir.BoolAttr) and ir.BoolAttr(donor).value:
            found[argument.index] = Donation(argument, None, "donor", "frontend")
    return [found[index] for index in sorted(found)]


def strip(program: Program) -> bool:
    """Removes every donation, the module's table too; returns whether there was any."""
    table = bool(alias_table.read(program))
    if table:
        del program.module.operation.attributes[MODULE_ALIAS]
    return write(program, (), program.arguments) or table


def malformed(argument: Value, attrs: dict[str, ir.Attribute]) -> Diagnostic | None:
    """What is wrong with an argument's donation attributes by themselves, if anything.

    XLA reads `tf.aliasing_output` as any integer and `jax.buffer_donor` as any boolean,
    `false` included, and ignores other kinds in silence (mlir_hlo_to_hlo.cc).
    """
    alias, donor = attrs.get(ALIAS), attrs.get(DONOR)
    if alias is None and donor is None:
        return None
    if alias is not None and donor is not None:
        message = f"{argument} carries both {ALIAS} and {DONOR}"
        return _finding("donation-both", message, argument, "keep one: XLA refuses both")
    if alias is not None and alias_index(alias) is None:
        message = f"{argument} carries {ALIAS} = {alias}, which is no result index"
        hint = f"write the index of a result, as in {ALIAS} = 0 : i32"
        known = isinstance(alias, (ir.IntegerAttr, ir.BoolAttr))
        note = () if known else ("XLA ignores it in silence",)
        return _finding("alias-malformed", message, argument, hint, note)
    if donor is not None and not isinstance(donor, ir.BoolAttr):
        message = f"{argument} carries {DONOR} as {donor}, which XLA ignores"
        return _finding("donor-malformed", message, argument, f"write {DONOR} = true")
    if donor is not None and not ir.BoolAttr(donor).value:
        message = f"{argument} carries {DONOR} = false, yet XLA donates on any boolean"
        return _finding("donor-false", message, argument, "remove the attribute")
    return None


def write(program: Program, donations: Iterable[Donation], cleared: Iterable[Value]) -> bool:
    """Writes donations as argument attributes, and clears those of `cleared`.

    Other arguments keep what they carry. Returns whether anything changed.
    """
    before = program.argument_attributes()
    changes: dict[int, dict[str, ir.Attribute]] = {}
    for argument in cleared:
        if ALIAS in before[argument.index] or DONOR in before[argument.index]:
            attrs = changes.setdefault(argument.index, dict(before[argument.index]))
            attrs.pop(ALIAS, None)
            attrs.pop(DONOR, None)
    with program.context:
        for donation in donations:
            index = donation.argument.index
            _write_one(changes.setdefault(index, dict(before[index])), donation)
    changes = {index: attrs for index, attrs in changes.items() if attrs != before[index]}
    if changes:
        program.set_argument_attributes(changes)
    return bool(changes)


def _write_one(attrs: dict[str, ir.Attribute], donation: Donation) -> None:
    """One argument's attributes; what says the same already is left as it is."""
    if donation.result is None:
        attrs.pop(ALIAS, None)
        if not (isinstance(attrs.get(DONOR), ir.BoolAttr) and ir.BoolAttr(attrs[DONOR]).value):
            attrs[DONOR] = ir.BoolAttr.get(True)
        return
    attrs.pop(DONOR, None)
    if alias_index(attrs.get(ALIAS)) != donation.result.index:
        index_type = ir.IntegerType.get_signless(32)
        attrs[ALIAS] = ir.IntegerAttr.get(index_type, donation.result.index)


def alias_index(attr: ir.Attribute | None) -> int | None:
    """The result index of an alias attribute; None where it is missing, negative or no integer."""
    if not isinstance(attr, ir.IntegerAttr) or isinstance(attr, ir.BoolAttr):
        return None
    value = int(ir.IntegerAttr(attr).value)
    return value if value >= 0 else None


def _finding(
    code: str, message: str, argument: Value, hint: str, notes: tuple[str, ...] = ()
) -> Diagnostic:
    return Diagnostic(code, message, argument.where, notes=notes, help=hint)
