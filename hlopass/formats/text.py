"""StableHLO and MHLO as MLIR text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hlopass.loaded import Loaded

_LOCATION = re.compile(r'\bloc\((?:#|"|unknown|callsite|fused)')
PARSER_LOCATION = re.compile(rb'loc\("-":\d+:\d+(?: to (?:\d+)?:\d+)?\)')
"""A position in a text that was parsed without a file name."""


def has_locations(text: str) -> bool:
    """Whether a text says where its operations come from."""
    return _LOCATION.search(text) is not None


def write(program: Loaded) -> bytes:
    """A program as text, with locations where its source had any.

    Arguments keep the names that they had as SSA values (`%cache_k`).
    """
    if program.source.has_locations:
        return with_locations(program)
    return _print(program, use_name_loc_as_prefix=True)


def with_locations(program: Loaded) -> bytes:
    """A program as text with its locations, but without those that parsing it made up.

    Where the source itself has positions in a file called "-", all of them stay.
    """
    text = _print(program, enable_debug_info=True)
    source = program.source.text
    if source is None or 'loc("-":' in source:
        return text
    return PARSER_LOCATION.sub(b"loc(unknown)", text)


def _print(program: Loaded, **options: bool) -> bytes:
    text = program.module.operation.get_asm(binary=True, assume_verified=True, **options)
    assert isinstance(text, bytes)
    return text.rstrip(b"\n") + b"\n"
