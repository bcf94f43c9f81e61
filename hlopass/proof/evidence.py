"""What a compiled executable tells of itself: alias table, copies, memory."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from hlopass.jaxlib_compat import hlo_module_text

_ALIAS = re.compile(r"\{([\d, ]*)\}: \((\d+), \{[\d, ]*\}, (?:may|must)-alias\)")
_COPY = re.compile(r"^\s*(?:ROOT )?%?[\w.-]+ = [^=]*? copy(?:-start)?\(", re.MULTILINE)
_TRANSFER = re.compile(
    r"^\s*(?:ROOT )?%?[\w.-]+ = [^=]*? (infeed|outfeed|recv|send)\(", re.MULTILINE
)
_CUSTOM_CALL = re.compile(r'custom_call_target="([^"]*)"')


@dataclass(frozen=True)
class Compiled:
    """Facts of one executable; sizes in bytes, of one device.

    `aliases`: argument index to result index. `copies`: copy instructions in all
    computations of the optimized HLO. `footprint`: argument + output - alias + temp.
    `transfers`: operations that wait for the host.
    """

    aliases: dict[int, int]
    copies: int
    temp_bytes: int
    footprint: int
    custom_calls: frozenset[str]
    transfers: frozenset[str]


def read(executable: Any) -> Compiled:
    """The facts of a loaded executable."""
    text = hlo_module_text(executable.hlo_modules()[0])
    stats = executable.get_compiled_memory_stats()
    footprint = (
        stats.argument_size_in_bytes
        + stats.output_size_in_bytes
        - stats.alias_size_in_bytes
        + stats.temp_size_in_bytes
    )
    return Compiled(
        aliases=alias_table(text.partition("\n")[0]),
        copies=len(_COPY.findall(text)),
        temp_bytes=stats.temp_size_in_bytes,
        footprint=footprint,
        custom_calls=frozenset(_CUSTOM_CALL.findall(text)),
        transfers=frozenset(_TRANSFER.findall(text)),
    )


def alias_table(header: str) -> dict[int, int]:
    """The alias table in the first line of an HLO module: argument to result.

    A module with one result that is no tuple has the empty index for it.
    """
    start = header.find("input_output_alias={")
    if start < 0:
        return {}
    end = header.find(") }", start)
    return {
        int(argument): int(result or 0)
        for result, argument in _ALIAS.findall(header[start : end + 1])
    }
