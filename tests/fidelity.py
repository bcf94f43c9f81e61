"""Whether a rewriting changed nothing but what was asked."""

from __future__ import annotations

from hlopass import formats
from hlopass.program import ALIAS, DONOR, Program

_OURS = (ALIAS, DONOR)


def skeleton(data: bytes) -> str:
    """A module as generic text with its named locations, without donation attributes.

    Two modules with the same skeleton differ in donation alone.
    """
    program = formats.read(data, "<skeleton>")
    program.set_argument_attributes(
        [
            {name: attr for name, attr in attrs.items() if name not in _OURS}
            for attrs in program.argument_attributes()
        ]
    )
    return _generic(program)


def _generic(program: Program) -> str:
    from hlopass.formats.text import _PARSER_LOCATION

    text = program.module.operation.get_asm(print_generic_op_form=True, enable_debug_info=True)
    return _PARSER_LOCATION.sub("loc(unknown)", str(text))
