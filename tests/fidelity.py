"""Whether a rewriting changed nothing but what was asked."""

from __future__ import annotations

from hlopass import formats
from hlopass.formats.text import PARSER_LOCATION
from hlopass.program import (
    ALIAS,
    ARG_ATTRS,
    DONOR,
    MESH,
    MODULE_ALIAS,
    PARTITIONS,
    REPLICAS,
    RESULT_ATTRS,
    SHARDINGS,
    Program,
    attribute_dicts,
    set_attribute_dicts,
)

_OURS = (ALIAS, DONOR)


def skeleton(data: bytes, entry: str | None = None, sharding: bool = False) -> str:
    """A module as generic text with its named locations, without donation attributes.

    Two modules with the same skeleton differ in donation alone; with `sharding`, in that of
    arguments and results too.
    """
    program = formats.read(data, "<skeleton>", entry)
    program.set_argument_attributes(
        {
            index: {name: attr for name, attr in attrs.items() if name not in _OURS}
            for index, attrs in enumerate(program.argument_attributes())
        }
    )
    attributes = program.module.operation.attributes
    if MODULE_ALIAS in attributes:
        del attributes[MODULE_ALIAS]
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
