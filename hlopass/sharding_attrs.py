"""Sharding attributes in a program: which dialects it uses, and how they are written."""

from __future__ import annotations

import re
from collections.abc import Mapping

import jaxlib.mlir.ir as ir

from hlopass import sdy_text
from hlopass.layout import Mesh, TensorSharding
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

_IN_TEXT = {
    "shardy": re.compile(rf"(?<![\w.]){re.escape(SHARDY)} ="),
    "gspmd": re.compile(rf"(?<![\w.]){re.escape(GSPMD)} ="),
}


def dialects(module: ir.Module) -> dict[Dialect, str]:
    """The dialects that a module's shardings are in, each with the operation that shows it.

    The whole program counts, as XLA's partitioner reads all of it. A mesh alone says nothing.
    """
    found: dict[Dialect, str] = {}

    def visit(operation: ir.Operation) -> ir.WalkResult:
        name, attributes = operation.name, operation.attributes
        if SHARDY in attributes or (name.startswith("sdy.") and name != MESH):
            found.setdefault("shardy", name)
        if GSPMD in attributes:
            found.setdefault("gspmd", name)
        if name == "func.func":
            for key in (ARG_ATTRS, RESULT_ATTRS):
                text = str(attributes[key]) if key in attributes else ""
                if _IN_TEXT["shardy"].search(text):
                    found.setdefault("shardy", name)
                if _IN_TEXT["gspmd"].search(text):
                    found.setdefault("gspmd", name)
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
