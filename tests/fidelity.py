"""Whether a rewriting changed nothing but what was asked."""

from __future__ import annotations

from hlopass import formats
from hlopass.formats.text import PARSER_LOCATION
from hlopass.program import ALIAS, DONOR, MODULE_ALIAS, Program

_OURS = (ALIAS, DONOR)


def skeleton(data: bytes, entry: str | None = None) -> str:
    """A module as generic text with its named locations, without donation attributes.

    Two modules with the same skeleton differ in donation alone.
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
    return _generic(program)


def _generic(program: Program) -> str:
    text = program.module.operation.get_asm(
        binary=True,
        print_generic_op_form=True,
        enable_debug_info=True,
        use_local_scope=True,
    )
    assert isinstance(text, bytes)
    return PARSER_LOCATION.sub(b"loc(unknown)", text).decode()
