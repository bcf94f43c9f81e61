"""The module's own alias table, `mhlo.input_output_alias`, which beats the arguments' aliases.

XLA reads it instead of every `tf.aliasing_output` unless it is empty. It alone can say
must-alias. It has no place for donors.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import jaxlib.mlir.ir as ir

from hlopass.diagnostics import Diagnostic, quoted
from hlopass.donation import Donation
from hlopass.program import MODULE_ALIAS, Program


@dataclass
class Table:
    """The aliases of a module's table, and what is wrong with the others.

    `musts` are the arguments, by index, that the table ties with must-alias.
    """

    donations: dict[int, Donation] = field(default_factory=dict)
    musts: set[int] = field(default_factory=set)
    problems: list[Diagnostic] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.donations or self.problems)


def read(program: Program) -> Table:
    """A module's table; empty where the attribute is missing or empty."""
    table = Table()
    attributes = program.module.operation.attributes
    if MODULE_ALIAS not in attributes:
        return table
    listed = attributes[MODULE_ALIAS]
    if not isinstance(listed, ir.ArrayAttr):
        table.problems.append(_malformed(program, f"{MODULE_ALIAS} is no list: {listed}"))
        return table
    for position, entry in enumerate(listed):
        _read_entry(program, position, entry, table)
    return table


def _read_entry(program: Program, position: int, entry: ir.Attribute, table: Table) -> None:
    at = f"entry {position} of {MODULE_ALIAS}"
    try:
        fields = ir.DictAttr(entry)
        alias = ir.DictAttr(fields["alias"])
        output = list(ir.DenseI64ArrayAttr(fields["output_index"]))
        inside = list(ir.DenseI64ArrayAttr(alias["parameter_index"]))
        number = int(ir.IntegerAttr(alias["parameter_number"]).value)
        kind = ir.StringAttr(alias["kind"]).value
    except (KeyError, ValueError):
        table.problems.append(_malformed(program, f"{at} is malformed: {entry}"))
        return
    if kind not in ("may_alias", "must_alias"):
        message = f"{at} has kind '{kind}', and legal are may_alias and must_alias"
        table.problems.append(_malformed(program, message))
        return
    result = output[0] if output else 0
    fits = not inside and len(output) == (0 if len(program.results) == 1 else 1)
    known = 0 <= number < len(program.arguments) and 0 <= result < len(program.results)
    if not fits or not known:
        parameter = f"parameter {number}" + (f" at {inside}" if inside else "")
        message = f"{at} ties {parameter} to output {output}, but {quoted(program.entry_name)} has"
        counts = f"{len(program.arguments)} arguments and {len(program.results)} results"
        table.problems.append(_malformed(program, f"{message} {counts}"))
        return
    argument = program.arguments[number]
    if number in table.donations:
        table.problems.append(_malformed(program, f"{at} ties {argument} a second time"))
        return
    table.donations[number] = Donation(argument, program.results[result], "alias", "frontend")
    if kind == "must_alias":
        table.musts.add(number)


def _malformed(program: Program, message: str) -> Diagnostic:
    hint = f"legal: {_ENTRY.format(argument=0, output=': 0')}; or an empty list"
    return Diagnostic("module-alias-malformed", message, program.where, help=hint)


_ENTRY = (
    '{{alias = {{kind = "may_alias", parameter_index = array<i64>, '
    "parameter_number = {argument} : i64}}, output_index = array<i64{output}>}}"
)


def write(program: Program, donations: Iterable[Donation]) -> None:
    """Writes aliases as the module's table; the attribute stays, if there is none, empty.

    Output indices of a single result that is no tuple are empty.
    """
    single = len(program.results) == 1
    entries = [
        _ENTRY.format(
            argument=each.argument.index, output="" if single else f": {each.result.index}"
        )
        for each in donations
        if each.result is not None
    ]
    listed = ir.Attribute.parse(f"[{', '.join(entries)}]", context=program.context)
    program.module.operation.attributes[MODULE_ALIAS] = listed
