"""Finds donation attributes that XLA would ignore, refuse or crash on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import jaxlib.mlir.ir as ir

from hlopass import alias_table, donation_attrs
from hlopass.alias_table import Table
from hlopass.diagnostics import Diagnostic, quoted
from hlopass.donation import Donation, unfit
from hlopass.entry import functions_of
from hlopass.passes._base import Pass, PassContext
from hlopass.program import (
    ALIAS,
    ARG_ATTRS,
    DONOR,
    MODULE_ALIAS,
    MODULE_DONOR,
    Program,
    attribute_dicts,
)
from hlopass.values import Value


@dataclass(frozen=True)
class CheckDonation(Pass):
    """Finds donation attributes that XLA would ignore, refuse or crash on.

    MLIR verifies none of this: a string as a result index, index 9 of one result, or
    `jax.buffer_donor = false` all parse, and compile in silence or end in a stack trace.

    ```mlir
    func.func @main(%w: tensor<4xf32> {tf.aliasing_output = 9 : i32}) -> tensor<4xf32>
    // error: argument 0 'w' carries tf.aliasing_output = 9, but the only result is 0
    ```
    """

    name: ClassVar[str] = "check-donation"
    verifies: ClassVar[bool] = False

    def run(self, module: ir.Module, context: PassContext) -> bool:
        context.diagnostics += check(context.program)
        return False


def check(program: Program) -> list[Diagnostic]:
    """Everything wrong with a program's donation attributes, errors and warnings."""
    donations = donation_attrs.read(program)
    return [
        *_by_themselves(program),
        *(finding for each in donations if (finding := _impossible(each)) is not None),
        *_shared_results(donations),
        *_module_level(program, alias_table.read(program)),
        *_other_functions(program),
    ]


def _by_themselves(program: Program) -> Iterator[Diagnostic]:
    """Malformed attributes, and those that name a result which is not there."""
    count = len(program.results)
    legal = {0: "there are no results", 1: "the only result is 0"}
    for argument, attrs in zip(program.arguments, program.argument_attributes(), strict=True):
        finding = donation_attrs.malformed(argument, attrs)
        if finding is not None:
            yield finding
        elif ALIAS in attrs:
            index = ir.IntegerAttr(attrs[ALIAS]).value
            if index >= count:
                shown = legal.get(count, f"results are 0 to {count - 1}")
                message = f"{argument} carries {ALIAS} = {index}, but {shown}"
                yield Diagnostic("alias-out-of-range", message, argument.where)


def _impossible(each: Donation) -> Diagnostic | None:
    """A donation that XLA cannot carry out, or that aborts it."""
    reason = unfit(each.argument, each.result)
    if reason is None or each.argument.bytes == 0:
        return None
    to = "" if each.result is None else f" to {each.result}"
    message = f"cannot donate {each.argument}{to}: {reason.reason}"
    return Diagnostic(reason.code, message, each.argument.where, notes=(reason.note,))


def _shared_results(donations: list[Donation]) -> Iterator[Diagnostic]:
    owners: dict[int, Value] = {}
    for each in donations:
        if each.result is None:
            continue
        owner = owners.setdefault(each.result.index, each.argument)
        if owner is not each.argument:
            message = f"{each.argument} and {owner} are both donated to {each.result}"
            hint = "a result can take over one buffer"
            yield Diagnostic("donate-result-taken", message, each.argument.where, help=hint)


def _module_level(program: Program, table: Table) -> Iterator[Diagnostic]:
    yield from table.problems
    attributes = zip(program.arguments, program.argument_attributes(), strict=True)
    for argument, attrs in attributes if table else ():
        tied = table.donations.get(argument.index)
        if tied is not None and DONOR in attrs:
            message = f"{argument} carries {DONOR} and stands in {MODULE_ALIAS}"
            yield Diagnostic("donation-both", message, argument.where, help="XLA refuses both")
        elif ALIAS in attrs and (tied is None or str(attrs[ALIAS]) != _written(tied, attrs)):
            ignored = f"{argument} carries {ALIAS} = {attrs[ALIAS]}"
            says = "does not list it" if tied is None else f"ties it to {tied.result}"
            message = f"{ignored}, but the module's {MODULE_ALIAS}, which overrides it, {says}"
            hint = f"remove {MODULE_ALIAS}, or the argument's attribute"
            yield Diagnostic("module-alias-overrides", message, argument.where, help=hint)
    if MODULE_DONOR in program.module.operation.attributes:
        message = f"the module carries {MODULE_DONOR}, which XLA ignores"
        hint = f"a donor is an argument with {DONOR} = true"
        yield Diagnostic("module-donor-ignored", message, program.where, "warning", help=hint)


def _written(tied: Donation, attrs: dict[str, ir.Attribute]) -> str:
    """An alias to the same result, in the integer type that the argument uses."""
    index = -1 if tied.result is None else tied.result.index
    return f"{index} : {str(attrs[ALIAS]).partition(' : ')[2]}"


def _other_functions(program: Program) -> Iterator[Diagnostic]:
    """XLA reads the entry's arguments only; what stands elsewhere means nothing."""
    for name, function in functions_of(program.module).items():
        if function == program.entry or ARG_ATTRS not in function.attributes:
            continue
        count = len(ir.ArrayAttr(function.attributes[ARG_ATTRS]))
        dicts = attribute_dicts(function, ARG_ATTRS, count)
        carrying = [str(i) for i, attrs in enumerate(dicts) if ALIAS in attrs or DONOR in attrs]
        if carrying:
            shown = f"{len(carrying)} arguments" if len(carrying) > 1 else f"argument {carrying[0]}"
            message = f"{shown} of function {quoted(name)} carry donation attributes"
            if len(carrying) == 1:
                message = message.replace(
                    " carry donation attributes", " carries a donation attribute"
                )
            hint = "XLA reads those of the entry only; --entry NAME picks another"
            where = program.where_of(function)
            yield Diagnostic("donation-not-entry", message, where, "warning", help=hint)
