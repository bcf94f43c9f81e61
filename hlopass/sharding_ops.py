"""Shardings anywhere in a program: found with their operations, changed, and taken away.

Two operations say a sharding and do nothing else: `sdy.sharding_constraint`, and the custom
call `@Sharding` with an `mhlo.sharding`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import jaxlib.mlir.ir as ir

from hlopass import sdy_text
from hlopass.diagnostics import Diagnostic, Where, quoted
from hlopass.program import (
    ARG_ATTRS,
    FRONTEND,
    GSPMD,
    MESH,
    RESULT_ATTRS,
    SHARDY,
    Program,
    attribute_dicts,
    set_attribute_dicts,
)

Kind = Literal["argument", "result", "operation", "constraint"]
Attributes = dict[str, ir.Attribute]

CONSTRAINTS = ("sdy.sharding_constraint", "sdy.reshard")
CONSTANT = "sdy.constant"
SHARDING_CALL = "Sharding"
PER_DEVICE_CALLS = (
    "SPMDFullToShardShape",
    "SPMDShardToFullShape",
    "xla.sdy.GlobalToLocalShape",
    "xla.sdy.LocalToGlobalShape",
)
ROUND_TRIP = "xla.sdy."
"""Begins what Shardy leaves among frontend attributes for its own import."""

RULE = "sdy.sharding_rule"
"""How an operation that Shardy does not know is partitioned."""

_FUNCTION = "func.func"
_CALL_ATTRIBUTES = {
    "api_version",
    "backend_config",
    "call_target_name",
    "called_computations",
    "has_side_effect",
    "operand_layouts",
    "output_operand_aliases",
    "result_layouts",
}
_COLLECTIVES = {
    "all_gather",
    "all_reduce",
    "all_to_all",
    "collective_broadcast",
    "collective_permute",
    "reduce_scatter",
}
_UNSPECIFIED = re.compile(r"unspecified_dims=\[([\d,\s]*)\]")


@dataclass(frozen=True)
class Site:
    """Shardings at one place: of an argument or result, of an operation's results.

    `shapes` are those of the values, None where unranked. `shardy` has a text for each value,
    `gspmd` is one for all; `unspecified` are the dimensions that a constraint leaves open.
    """

    operation: ir.Operation
    kind: Kind
    index: int
    what: str
    where: Where
    shapes: tuple[tuple[int, ...] | None, ...]
    shardy: tuple[str, ...] = ()
    gspmd: bytes | None = None
    unspecified: tuple[int, ...] = ()

    @property
    def key(self) -> str:
        """The attribute of a function that holds it."""
        return ARG_ATTRS if self.kind == "argument" else RESULT_ATTRS


def operations(module: ir.Module) -> list[ir.Operation]:
    """Every operation of a module, nested ones too, outer ones first."""
    found: list[ir.Operation] = []

    def visit(operation: ir.Operation) -> ir.WalkResult:
        found.append(operation)
        return ir.WalkResult.ADVANCE

    module.operation.walk(visit, ir.WalkOrder.PRE_ORDER)
    return found


def ignored(module: ir.Module) -> list[ir.Operation]:
    """Operations with an `sdy.sharding` that XLA drops before it partitions.

    It goes by those of arguments, results and custom calls, and by constraints.
    """
    return [
        each
        for each in operations(module)
        if SHARDY in each.attributes
        and not each.name.startswith("sdy.")
        and each.name != _FUNCTION
        and call_target(each) is None
    ]


def call_target(operation: ir.Operation) -> str | None:
    """The target of a custom call; None for other operations."""
    name = "call_target_name"
    if not operation.name.endswith(".custom_call") or name not in operation.attributes:
        return None
    return str(ir.StringAttr(operation.attributes[name]).value)


def sites(program: Program) -> Iterator[Site]:
    """Every place of the program with a sharding, in order."""
    for operation in operations(program.module):
        if operation.name == _FUNCTION:
            yield from _of_function(program, operation)
        elif operation.name in CONSTRAINTS and "sharding" in operation.attributes:
            yield _site(program, operation, "constraint", (str(operation.attributes["sharding"]),))
        elif operation.name not in ("builtin.module", MESH):
            yield from _of_operation(program, operation)


def _of_function(program: Program, function: ir.Operation) -> Iterator[Site]:
    signature = ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value)
    roles: tuple[tuple[Kind, str, list[ir.Type]], ...] = (
        ("argument", ARG_ATTRS, signature.inputs),
        ("result", RESULT_ATTRS, signature.results),
    )
    is_entry = function == program.entry
    for kind, key, types in roles:
        values = program.arguments if kind == "argument" else program.results
        for index, attrs in enumerate(attribute_dicts(function, key, len(types))):
            if SHARDY in attrs or GSPMD in attrs:
                where, name = program.place(function)
                what = f"{kind} {index} of {name}"
                if is_entry:
                    where, what = values[index].where or where, str(values[index])
                shardy = (str(attrs[SHARDY]),) if SHARDY in attrs else ()
                shapes = (_shape(types[index]),)
                gspmd = _bytes(attrs.get(GSPMD))
                yield Site(function, kind, index, what, where, shapes, shardy, gspmd)


def _of_operation(program: Program, operation: ir.Operation) -> Iterator[Site]:
    attributes = operation.attributes
    if SHARDY in attributes or GSPMD in attributes:
        text = str(attributes[SHARDY]) if SHARDY in attributes else ""
        shardy = sdy_text.parse_per_value(text) or ((text,) if text else ())
        yield _site(
            program, operation, "constraint" if _constrains(operation) else "operation", shardy
        )


def _constrains(operation: ir.Operation) -> bool:
    """Whether a custom call says a sharding and does nothing else."""
    types = [value.type for value in operation.results]
    same = types == [value.type for value in operation.operands][:1]
    return call_target(operation) == SHARDING_CALL and bool(types) and same


def _site(program: Program, operation: ir.Operation, kind: Kind, shardy: tuple[str, ...]) -> Site:
    where, function = program.place(operation)
    attributes = operation.attributes
    config = str(attributes["backend_config"]) if "backend_config" in attributes else ""
    named = _UNSPECIFIED.search(config) if kind == "constraint" else None
    dims = named[1].split(",") if named and named[1].strip() else []
    return Site(
        operation,
        kind,
        0,
        f"{described(operation)} in {function}",
        where,
        tuple(_shape(result.type) for result in operation.results),
        shardy,
        _bytes(attributes[GSPMD]) if GSPMD in attributes else None,
        tuple(sorted(int(dim) for dim in dims)),
    )


def _shape(type_: ir.Type) -> tuple[int, ...] | None:
    if not isinstance(type_, ir.RankedTensorType):
        return None if isinstance(type_, ir.ShapedType) else ()
    tensor = type_
    return tuple(-1 if tensor.is_dynamic_dim(d) else tensor.shape[d] for d in range(tensor.rank))


def _bytes(attr: ir.Attribute | None) -> bytes | None:
    if attr is None:
        return None
    return attr.value_bytes if isinstance(attr, ir.StringAttr) else str(attr).encode()


def set_shardings(site: Site, attribute: tuple[str, ir.Attribute] | None) -> None:
    """Gives a place one attribute in place of its shardings, or none."""
    if site.kind in ("argument", "result"):
        attr = ir.ArrayAttr(site.operation.attributes[site.key])
        attrs = attribute_dicts(site.operation, site.key, len(attr))[site.index]
        attrs = {name: each for name, each in attrs.items() if name not in (SHARDY, GSPMD)}
        attrs |= dict([attribute] if attribute else [])
        set_attribute_dicts(site.operation, site.key, len(attr), {site.index: attrs})
        return
    for name in (SHARDY, GSPMD):
        if name in site.operation.attributes:
            del site.operation.attributes[name]
    if attribute:
        site.operation.attributes[attribute[0]] = attribute[1]


def constrain(site: Site, name: str, attributes: Attributes) -> None:
    """Puts another constraint, an operation of that name, in the place of one."""
    old = site.operation
    dropped = {"sharding", SHARDY, GSPMD}
    dropped |= _CALL_ATTRIBUTES if call_target(old) is not None else set()
    others = {each.name: each.attr for each in _named(old) if each.name not in dropped}
    with old.context:
        new = ir.Operation.create(
            name,
            results=[old.results[0].type],
            operands=[old.operands[0]],
            attributes={**others, **attributes},
            loc=old.location,
            ip=ir.InsertionPoint(old),
        )
    old.results[0].replace_all_uses_with(new.results[0])
    old.erase()


def _named(operation: ir.Operation) -> list[ir.NamedAttribute]:
    attributes = operation.attributes
    return [attributes[at] for at in range(len(attributes))]


def bypass(operation: ir.Operation) -> None:
    """Takes an operation away: its first operand stands for its result, if it has one."""
    if len(operation.results):
        operation.results[0].replace_all_uses_with(operation.operands[0])
    operation.erase()


def plain_constant(operation: ir.Operation) -> None:
    """Puts StableHLO's constant in the place of Shardy's."""
    with operation.context:
        new = ir.Operation.create(
            "stablehlo.constant",
            results=[operation.results[0].type],
            attributes={each.name: each.attr for each in _named(operation)},
            loc=operation.location,
            ip=ir.InsertionPoint(operation),
        )
    operation.results[0].replace_all_uses_with(new.results[0])
    operation.erase()


def unsharded(attrs: Attributes) -> Attributes:
    """Attributes without shardings, and without what Shardy leaves among the frontend's."""
    kept = {name: attr for name, attr in attrs.items() if name not in (SHARDY, GSPMD, RULE)}
    if FRONTEND in kept and ROUND_TRIP in str(kept[FRONTEND]):
        frontend = ir.DictAttr(kept.pop(FRONTEND))
        entries = [frontend[at] for at in range(len(frontend))]
        rest = {each.name: each.attr for each in entries if not each.name.startswith(ROUND_TRIP)}
        if rest:
            kept[FRONTEND] = ir.DictAttr.get(rest, frontend.context)
    return kept


def is_per_device(operation: ir.Operation) -> bool:
    """Whether an operation is about one device of many, in a program that several run."""
    _, _, name = operation.name.partition(".")
    if name in _COLLECTIVES and not operation.name.startswith("sdy."):
        return not _alone(operation)
    return name == "partition_id" or call_target(operation) in PER_DEVICE_CALLS


def _alone(collective: ir.Operation) -> bool:
    """Whether each device of a collective is a group by itself."""
    name = "replica_groups"
    if name not in collective.attributes:
        return False
    groups = collective.attributes[name]
    if not isinstance(groups, ir.DenseElementsAttr):
        return False
    return list(ir.RankedTensorType(groups.type).shape)[1:] == [1]


def in_round_trip_form(operation: ir.Operation) -> bool:
    """Whether an operation says something to Shardy's import alone."""
    if (call_target(operation) or "").startswith(ROUND_TRIP):
        return True
    attributes = operation.attributes
    keys = [key for key in (FRONTEND, ARG_ATTRS, RESULT_ATTRS) if key in attributes]
    return any(ROUND_TRIP in str(attributes[key]) for key in keys)


def is_within(operation: ir.Operation, name: str) -> bool:
    """Whether an operation stands within one of a name."""
    parent = operation.parent
    while parent is not None and parent.operation.name != name:
        parent = parent.operation.parent
    return parent is not None


def outermost(found: Sequence[ir.Operation]) -> list[ir.Operation]:
    """Those operations that stand within no other of them; the module does not count."""
    others = set(found)

    def is_inside(operation: ir.Operation) -> bool:
        parent = operation.parent
        while parent is not None and parent.operation.name != "builtin.module":
            if parent.operation in others:
                return True
            parent = parent.operation.parent
        return False

    return [each for each in found if not is_inside(each)]


def findings(
    program: Program, found: Sequence[ir.Operation], code: str, why: str, help: str | None = None
) -> list[Diagnostic]:
    """An error for each operation with its place, and how many more than the first few."""
    most = 8
    diagnostics = []
    for at, operation in enumerate(found[:most]):
        where, function = program.place(operation)
        more = len(found) - most if at == most - 1 else 0
        notes = (f"and {more} more such operations",) if more > 0 else ()
        outer = operation.name in ("builtin.module", _FUNCTION)
        inside = "" if outer else f" in {function}"
        message = f"{described(operation)}{inside} {why}"
        diagnostics.append(Diagnostic(code, message, where, notes=notes, help=help))
    return diagnostics


def described(operation: ir.Operation) -> str:
    """The name of an operation, of a custom call with its target."""
    target = call_target(operation)
    if operation.name == "func.func":
        return f"function {quoted(str(ir.StringAttr(operation.attributes['sym_name']).value))}"
    if operation.name == "builtin.module":
        return "the module"
    return operation.name if target is None else f"custom call @{target}"
