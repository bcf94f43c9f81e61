"""Whether a rewriting changed nothing but what was asked.

With donations, and the shardings of arguments and results, taken away on both sides, what was
written must be what came: operation for operation, attribute for attribute, location for location.
"""

from __future__ import annotations

import itertools
from typing import Any

from hlopass import formats
from hlopass.diagnostics import Diagnostic, HlopassError, UsageError, Where
from hlopass.emit import HLO
from hlopass.formats import hlo_proto, hlo_shardings, hlo_text
from hlopass.formats.text import PARSER_LOCATION
from hlopass.hlo_origin import Donations
from hlopass.loaded import Source
from hlopass.program import (
    ALIAS,
    ARG_ATTRS,
    DONOR,
    MESH,
    MODULE_ALIAS,
    MODULE_DONOR,
    PARTITIONS,
    REPLICAS,
    RESULT_ATTRS,
    SHARDINGS,
    Program,
    attribute_dicts,
    set_attribute_dicts,
)

_OURS = (ALIAS, DONOR)


def check(
    before: bytes, after: bytes, label: str, entry: str | None = None, sharding: bool = False
) -> None:
    """Raises HlopassError where more than donations differ; with `sharding`, more than these too.

    Both are modules of StableHLO in any format, or both of HLO in one. Raises UsageError for
    others.
    """
    came, went = formats.read(before, label, entry), formats.read(after, label, entry)
    kinds = [source.format in HLO for source in (came.source, went.source)]
    if kinds[0] != kinds[1] or (kinds[0] and came.source.format != went.source.format):
        message = f"cannot hold {went.source.format} against {came.source.format}, line for line"
        hint = "leave out --emit, or --paranoid"
        raise UsageError(Diagnostic("usage", message, help=hint))
    if kinds[0]:
        old, new = _hlo(came.source, sharding), _hlo(went.source, sharding)
    else:
        old, new = _stablehlo(came, sharding), _stablehlo(went, sharding)
    if old != new:
        raise HlopassError(_first_difference(old, new, label))


def skeleton(data: bytes, entry: str | None = None, sharding: bool = False) -> str:
    """A module as generic text with its named locations, without donation attributes.

    Two modules with the same skeleton differ in donation alone; with `sharding`, in that of
    arguments and results too.
    """
    return _stablehlo(formats.read(data, "<skeleton>", entry), sharding)


def _first_difference(before: str, after: str, label: str) -> Diagnostic:
    pairs = itertools.zip_longest(before.split("\n"), after.split("\n"), fillvalue="(nothing)")
    old, new = next(pair for pair in pairs if pair[0] != pair[1])
    start = next(
        (at for at, (a, b) in enumerate(zip(old, new, strict=False)) if a != b),
        min(len(old), len(new)),
    )
    begin = max(0, start - 40)
    notes = (
        f"before: {old[begin : begin + 160].strip()}",
        f"after: {new[begin : begin + 160].strip()}",
    )
    message = "more than donation and sharding would change: nothing is written"
    hint = "this is a bug of hlopass, or of the parser and printer below it"
    return Diagnostic("not-faithful", message, Where(label), notes=notes, help=hint)


def _stablehlo(program: Program, sharding: bool) -> str:
    program.set_argument_attributes(
        {
            index: {name: attr for name, attr in attrs.items() if name not in _OURS}
            for index, attrs in enumerate(program.argument_attributes())
        }
    )
    attributes = program.module.operation.attributes
    for name in (MODULE_ALIAS, MODULE_DONOR):
        if name in attributes:
            del attributes[name]
    if sharding:
        _unshard(program)
    return _generic(program)


def _unshard(program: Program) -> None:
    """Removes what a spec may write."""
    for key, values in ((ARG_ATTRS, program.arguments), (RESULT_ATTRS, program.results)):
        before = attribute_dicts(program.entry, key, len(values))
        kept = {
            index: {name: attr for name, attr in attrs.items() if name not in SHARDINGS}
            for index, attrs in enumerate(before)
        }
        set_attribute_dicts(program.entry, key, len(values), kept)
    attributes = program.module.operation.attributes
    for name in (PARTITIONS, REPLICAS):
        if name in attributes:
            del attributes[name]
    for view in list(program.module.body.operations):
        if view.operation.name == MESH:
            view.operation.erase()


def _generic(program: Program) -> str:
    text = program.module.operation.get_asm(
        binary=True,
        print_generic_op_form=True,
        enable_debug_info=True,
        use_local_scope=True,
    )
    assert isinstance(text, bytes)
    return PARSER_LOCATION.sub(b"loc(unknown)", text).decode()


def _hlo(source: Source, sharding: bool) -> str:
    """HLO without donations: its own text, or its message as a text proto."""
    assert source.origin is not None
    data = source.origin.data
    if source.format == "hlo":
        text = data.decode()
        for key in (hlo_text.ALIASES, hlo_text.DONORS):
            text = hlo_text.with_attribute(text, key, None)
        return hlo_shardings.out_of_text(text) if sharding else text
    as_text = hlo_proto.FORMATS[source.format][1]
    message: Any = hlo_proto.parse(data.decode() if as_text else data, source.label)
    module = hlo_proto.module_of(message)
    hlo_proto.set_donations(module, Donations())
    for field in ("input_output_alias", "buffer_donor"):
        module.ClearField(field)
    if sharding:
        hlo_shardings.out_of_message(module)
    return hlo_proto.as_text(message)
