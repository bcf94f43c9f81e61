"""Sharding attributes in a program: which dialects it uses, and how they are written."""

from __future__ import annotations

import re
from collections.abc import Mapping

import jaxlib.mlir.ir as ir

from hlopass import sdy_text
from hlopass.layout import DimSharding, Mesh, TensorSharding
from hlopass.program import (
    ARG_ATTRS,
    GSPMD,
    MESH,
    PARTITIONS,
    REPLICAS,
    RESULT_ATTRS,
    SHARDINGS,
    SHARDY,
    Program,
    attribute_dicts,
    meshes_of,
    set_attribute_dicts,
)
from hlopass.sharded import Dialect

Wanted = Mapping[int, TensorSharding | None]
"""By index, the sharding to write; None removes what there is."""

FUNCTION = "func.func"

_IN_TEXT: dict[Dialect, re.Pattern[str]] = {
    "shardy": re.compile(rf"(?<![\w.]){re.escape(SHARDY)} ="),
    "gspmd": re.compile(rf"(?<![\w.]){re.escape(GSPMD)} ="),
}


def dialects(module: ir.Module) -> dict[Dialect, str]:
    """The dialects that a module's shardings are in, each with an operation that shows it.

    That is `func.func` only where no operation in a function does. The whole program counts, as
    XLA's partitioner reads all of it. A mesh alone says nothing.
    """
    found: dict[Dialect, str] = {}

    def note(dialect: Dialect, name: str) -> None:
        if found.get(dialect, FUNCTION) == FUNCTION:
            found[dialect] = name

    def visit(operation: ir.Operation) -> ir.WalkResult:
        name, attributes = operation.name, operation.attributes
        if SHARDY in attributes or (name.startswith("sdy.") and name != MESH):
            note("shardy", name)
        if GSPMD in attributes:
            note("gspmd", name)
        if name == FUNCTION:
            for key in (ARG_ATTRS, RESULT_ATTRS):
                text = str(attributes[key]) if key in attributes else ""
                for dialect, pattern in _IN_TEXT.items():
                    if pattern.search(text):
                        note(dialect, name)
        return ir.WalkResult.ADVANCE

    module.operation.walk(visit, ir.WalkOrder.PRE_ORDER)
    return found


def write(
    program: Program, mesh: Mesh, dialect: Dialect, arguments: Wanted, results: Wanted
) -> bool:
    """Writes shardings of arguments and results, and what the module says of its devices.

    Returns whether anything changed. `program` is read anew.
    """
    name = ""
    if dialect == "shardy" and any(s is not None for s in (*arguments.values(), *results.values())):
        name, mesh = named_mesh(program, mesh)
        arguments, results = _over(mesh, arguments), _over(mesh, results)
    changed = _write(program, ARG_ATTRS, len(program.arguments), arguments, dialect, name)
    changed |= _write(program, RESULT_ATTRS, len(program.results), results, dialect, name)
    if changed:
        _drop_unused_meshes(program.module)
        count(program.module, PARTITIONS, mesh.size)
        if REPLICAS not in program.module.operation.attributes:
            count(program.module, REPLICAS, 1)
    program.read_values()
    return changed


def _over(mesh: Mesh, wanted: Wanted) -> Wanted:
    """The same shardings over a mesh whose axes have other names."""
    return {index: each if each is None else each.over(mesh) for index, each in wanted.items()}


def _write(
    program: Program, key: str, size: int, wanted: Wanted, dialect: Dialect, mesh: str
) -> bool:
    """Writes the shardings of arguments (ARG_ATTRS) or results (RESULT_ATTRS)."""
    before = attribute_dicts(program.entry, key, size)
    changes: dict[int, dict[str, ir.Attribute]] = {}
    with program.context:
        for index, sharding in wanted.items():
            attrs = {name: attr for name, attr in before[index].items() if name not in SHARDINGS}
            if sharding is not None and dialect == "shardy":
                attrs[SHARDY] = ir.Attribute.parse(sharding.to_sdy(mesh))
            elif sharding is not None:
                attrs[GSPMD] = ir.StringAttr.get(sharding.to_gspmd())
            if attrs != before[index]:
                changes[index] = attrs
    if changes:
        set_attribute_dicts(program.entry, key, size, changes)
    return bool(changes)


def follow(program: Program, reuses: Mapping[int, int]) -> bool:
    """Gives results, by index, the sharding of an argument, by index; whether any got one.

    An argument without a sharding is whole on each device, and says so then, as the two must
    not be split apart.
    """
    given = attribute_dicts(program.entry, ARG_ATTRS, len(program.arguments))
    made = attribute_dicts(program.entry, RESULT_ATTRS, len(program.results))
    arguments: dict[int, dict[str, ir.Attribute]] = {}
    results: dict[int, dict[str, ir.Attribute]] = {}
    for result, argument in reuses.items():
        carried = {name: given[argument][name] for name in SHARDINGS if name in given[argument]}
        if not carried:
            carried = _replicated(program, len(program.arguments[argument].shape or ()))
            arguments[argument] = given[argument] | carried
        if carried:
            results[result] = made[result] | carried
    set_attribute_dicts(program.entry, ARG_ATTRS, len(program.arguments), arguments)
    set_attribute_dicts(program.entry, RESULT_ATTRS, len(program.results), results)
    program.read_values()
    return bool(results)


def _replicated(program: Program, rank: int) -> dict[str, ir.Attribute]:
    """A sharding that splits nothing, in the program's dialect; none where it has no mesh."""
    used = next(iter(dialects(program.module)), None)
    meshes = meshes_of(program.module)
    with program.context:
        if used == "gspmd":
            return {GSPMD: ir.StringAttr.get("{replicated}")}
        if not meshes:
            return {}
        name, mesh = next(iter(meshes.items()))
        whole = TensorSharding(mesh, (DimSharding(),) * rank)
        return {SHARDY: ir.Attribute.parse(whole.to_sdy(name))}


def count(module: ir.Module, name: str, number: int) -> None:
    """Writes an integer attribute of the module, as JAX does."""
    with module.context:
        kind = ir.IntegerType.get_signless(32)
        module.operation.attributes[name] = ir.IntegerAttr.get(kind, number)


def named_mesh(program: Program, mesh: Mesh) -> tuple[str, Mesh]:
    """The name of a mesh in the module, and the mesh as it is there; added where there is none.

    Shardy takes two meshes of other axes for two sets of devices: where the module has one
    of the same sizes, its axes are used by their places.
    """
    known = meshes_of(program.module)
    equal = [name for name, each in known.items() if each == mesh]
    alike = [name for name, each in known.items() if each.same_devices(mesh)]
    for name in (*equal, *alike):
        return name, known[name]
    name = free_symbol(program.module, "mesh")
    add_mesh(program, name, mesh)
    return name, mesh


def add_mesh(program: Program, name: str, mesh: Mesh) -> None:
    """Puts a mesh at the top of the module."""
    with program.context, ir.Location.unknown():
        ir.Operation.create(
            MESH,
            attributes={
                "sym_name": ir.StringAttr.get(name),
                "mesh": ir.Attribute.parse(mesh.to_sdy()),
            },
            ip=ir.InsertionPoint.at_block_begin(program.module.body),
        )


def _drop_unused_meshes(module: ir.Module) -> None:
    """Removes meshes that nothing names any more, where there are several."""
    meshes = [view.operation for view in module.body.operations if view.operation.name == MESH]
    text = str(module.operation) if len(meshes) > 1 else ""
    for mesh in meshes if text else ():
        name = sdy_text.symbol(ir.StringAttr(mesh.attributes["sym_name"]).value)
        if len(re.findall(rf"{re.escape(name)}(?![\w$.])", text)) == 1:
            mesh.erase()


def free_symbol(module: ir.Module, name: str) -> str:
    """A symbol that the module does not have: the name itself, or it with a number."""
    taken = {
        ir.StringAttr(view.operation.attributes["sym_name"]).value
        for view in module.body.operations
        if "sym_name" in view.operation.attributes
    }
    candidates = [name, *(f"{name}_{number}" for number in range(len(taken) + 1))]
    return next(each for each in candidates if each not in taken)
