"""StableHLO and MHLO as MLIR text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hlopass.program import Program

_LOCATION = re.compile(r'\bloc\((?:#|"|unknown|callsite|fused)')
_PARSER_LOCATION = re.compile(r'loc\("-":\d+:\d+(?: to (?:\d+)?:\d+)?\)')


def has_locations(text: str) -> bool:
    """Whether a text says where its operations come from."""
    return _LOCATION.search(text) is not None


def write(program: Program) -> bytes:
    """A program as text, with locations where its source had any.

    Arguments keep the names that they had as SSA values (`%cache_k`).
    """
    if program.source.has_locations:
        return with_locations(program).encode()
    return (_print(program, use_name_loc_as_prefix=True) + "\n").encode()


def with_locations(program: Program) -> str:
    """A program as text with its locations, but without those that parsing it made up.

    Where the source itself has positions in a file called "-", all of them stay.
    """
    text = _print(program, enable_debug_info=True)
    source = program.source.text
    if source is None or _PARSER_LOCATION.search(source):
        return text
    return _PARSER_LOCATION.sub("loc(unknown)", text)


def _print(program: Program, **options: bool) -> str:
    text = program.module.operation.get_asm(assume_verified=True, **options)
    return text.rstrip("\n") if isinstance(text, str) else ""
