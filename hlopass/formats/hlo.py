"""HLO: text, protos and text protos. It is read to a program, and stays HLO when written.

The program is XLA's own import to StableHLO: passes see its arguments and data flow. What
they decide is written into the module that came, of which nothing else is touched.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import jaxlib.mlir.ir as ir

from hlopass import jaxlib_compat
from hlopass.diagnostics import Diagnostic, HlopassError, Where
from hlopass.formats import hlo_proto, hlo_text
from hlopass.formats.said import cut, xla_error
from hlopass.hlo_origin import Donations, Origin, Slot, shown
from hlopass.jaxlib_compat import new_context, set_argument_name
from hlopass.loaded import Loaded, Source
from hlopass.program import (
    ALIAS,
    ARG_ATTRS,
    DONOR,
    GSPMD,
    MODULE_ALIAS,
    MODULE_DONOR,
    PARTITIONS,
    REPLICAS,
    RESULT_ATTRS,
    SHARDINGS,
    attribute_dicts,
    set_attribute_dicts,
)

PROPAGATED = "allow_spmd_sharding_propagation_to_output"

_CARRIED = {
    hlo_text.ALIASES,
    hlo_text.DONORS,
    "entry_computation_layout",
    "num_partitions",
    "replica_count",
}
"""What a header says that a program of StableHLO says as well."""


def is_text(text: str) -> bool:
    """Whether a text is HLO text, rather than a text proto."""
    return hlo_text.is_hlo(text)


def read_text(text: str, label: str) -> Loaded:
    """A program from HLO text. Raises HlopassError where XLA does not read it."""
    try:
        module = jaxlib_compat.hlo_from_text(hlo_text.for_parser(text))
    except RuntimeError as error:
        raise HlopassError(xla_error(error, label, text)) from None
    message = hlo_proto.parse(module, label)
    lost = tuple(key for key in hlo_text.header(text)[1] if key not in _CARRIED)
    source = Source(label, "hlo", has_locations="metadata={" in text)
    left = _left_open(text)
    loaded = _imported(message, text.encode(), source, lost, left)
    for key, name in (("num_partitions", PARTITIONS), ("replica_count", REPLICAS)):
        count = hlo_text.attribute(text, key)
        if count is not None and count.isdecimal():
            _set_count(loaded.module, name, int(count))
    return loaded


def _left_open(text: str) -> tuple[bool, ...]:
    """For each leaf of the result, whether propagation shards it; one for all, or nothing."""
    flags = hlo_text.attribute(text, PROPAGATED) or "{}"
    return tuple(each.strip() == "true" for each in flags.strip("{}").split(",") if each.strip())


def read_proto(data: bytes | str, label: str) -> Loaded:
    """A program from a message that holds an HLO module, as bytes or as text proto."""
    message = hlo_proto.parse(data, label)
    module = hlo_proto.module_of(message)
    named = any(each.metadata.op_name for c in module.computations for each in c.instructions)
    raw = data.encode() if isinstance(data, str) else data
    form = message.DESCRIPTOR.name, isinstance(data, str)
    kind = next(each for each, other in hlo_proto.FORMATS.items() if other == form)
    lost = ("schedule",) if module.HasField("schedule") else ()
    return _imported(message, raw, Source(label, kind, has_locations=named), lost)


def _imported(
    message: Any,
    raw: bytes,
    source: Source,
    lost: tuple[str, ...],
    left: tuple[bool, ...] = (),
) -> Loaded:
    proto = hlo_proto.module_of(message)
    try:
        imported = jaxlib_compat.hlo_to_stablehlo(hlo_proto.serialized(proto, source.label))
    except RuntimeError as error:
        raise HlopassError(xla_error(error, source.label)) from None
    module = _parsed(imported, source.label)
    slots, outputs = hlo_proto.slots(proto), hlo_proto.outputs(proto)
    donated = hlo_proto.donations(proto)
    main = next((op.operation for op in module.body.operations if _is_main(op)), None)
    if main is None or len(main.regions[0].blocks[0].arguments) != len(slots):
        message = f"the import to StableHLO does not keep the {len(slots)} parameters"
        raise HlopassError(Diagnostic("hlo-import", message, Where(source.label)))
    _carry_over(main, donated, slots, outputs, source.label)
    for name in (MODULE_ALIAS, MODULE_DONOR):
        if name in module.operation.attributes:
            del module.operation.attributes[name]
    _name(main, slots, hlo_proto.parameter_names(proto))
    _open(main, left * len(outputs) if len(left) == 1 else left, len(outputs))
    origin = Origin(raw, slots, outputs, donated, shardings(main), lost)
    return Loaded(module, replace(source, origin=origin))


def _parsed(imported: bytes, label: str) -> ir.Module:
    """The module that XLA's import made. Raises HlopassError where it is none."""
    with new_context() as context:
        context.emit_error_diagnostics = False
        try:
            return ir.Module.parse(imported)
        except ir.MLIRError as error:
            said = [found.message for found in error.error_diagnostics] or [str(error)]
    message = f"XLA's import to StableHLO is no valid module: {cut(said[0])}"
    raise HlopassError(Diagnostic("hlo-import", message, Where(label)))


def _is_main(op: Any) -> bool:
    return bool(op.operation.name == "func.func" and str(op.attributes["sym_name"]) == '"main"')


def _carry_over(
    main: ir.Operation,
    donated: Donations,
    slots: tuple[Slot, ...],
    outputs: tuple[tuple[int, ...], ...],
    label: str,
) -> None:
    """Writes a module's donations as attributes of the flattened arguments."""
    arguments = {slot: index for index, slot in enumerate(slots)}
    results = {path: index for index, path in enumerate(outputs)}
    attributes = attribute_dicts(main, ARG_ATTRS, len(slots))
    changes: dict[int, dict[str, ir.Attribute]] = {}
    with main.context:
        for alias in donated.aliases:
            if alias.slot not in arguments or alias.output not in results:
                known = f"parameter leaves: {len(slots)}, result leaves: {len(outputs)}"
                message = f"{hlo_text.ALIASES} ties output {shown(alias.output)} to {alias.slot}"
                found = f"{message}, but the module has no such leaves"
                where = Where(label)
                raise HlopassError(Diagnostic("hlo-alias-malformed", found, where, help=known))
            index = arguments[alias.slot]
            number = ir.IntegerAttr.get(ir.IntegerType.get_signless(32), results[alias.output])
            changes[index] = {**attributes[index], ALIAS: number}
        for slot in donated.donors:
            index = arguments.get(slot, -1)
            if index >= 0 and index not in changes:
                changes[index] = {**attributes[index], DONOR: ir.BoolAttr.get(True)}
    set_attribute_dicts(main, ARG_ATTRS, len(slots), changes)


def _open(main: ir.Operation, left: tuple[bool, ...], count: int) -> None:
    """Takes the sharding from results that are left to propagation: a tuple has one for all."""
    changes = {
        index: {name: attr for name, attr in attrs.items() if name not in SHARDINGS}
        for index, attrs in enumerate(attribute_dicts(main, RESULT_ATTRS, count))
        if left[index : index + 1] == (True,) and str(attrs.get(GSPMD)) == '"{replicated}"'
    }
    set_attribute_dicts(main, RESULT_ATTRS, count, changes)


def _name(main: ir.Operation, slots: tuple[Slot, ...], names: dict[int, tuple[str, str]]) -> None:
    """Names arguments: as the frontend did, else as HLO does, a leaf of a tuple by its place."""
    called = [name for _, name in names.values()]
    for argument, slot in zip(main.regions[0].blocks[0].arguments, slots, strict=True):
        own, given = names.get(slot.parameter, ("", ""))
        name = given if called.count(given) == 1 and given else own
        if slot.path:
            name = str(slot)
        if name:
            set_argument_name(argument, name)


def shardings(main: ir.Operation) -> tuple[str, ...]:
    """The shardings of all arguments and results, in order."""
    arguments = len(main.regions[0].blocks[0].arguments)
    results = len(ir.FunctionType(ir.TypeAttr(main.attributes["function_type"]).value).results)
    return tuple(
        " ".join(str(attrs[key]) for key in SHARDINGS if key in attrs)
        for name, count in ((ARG_ATTRS, arguments), (RESULT_ATTRS, results))
        for attrs in attribute_dicts(main, name, count)
    )


def _set_count(module: ir.Module, name: str, count: int) -> None:
    with module.context:
        module.operation.attributes[name] = ir.IntegerAttr.get(
            ir.IntegerType.get_signless(32), count
        )
