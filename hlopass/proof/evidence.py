"""What a compiled executable tells of itself: alias table, copies, memory, collectives."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any

from hlopass.jaxlib_compat import hlo_module_text, hlo_shardings
from hlopass.report import Collective

_ALIAS = re.compile(r"\{([\d, ]*)\}: \((\d+), \{[\d, ]*\}, (?:may|must)-alias\)")
_COPY = re.compile(r"^\s*(?:ROOT )?%?[\w.-]+ = [^=]*? copy(?:-start)?\(", re.MULTILINE)
_TRANSFER = re.compile(
    r"^\s*(?:ROOT )?%?[\w.-]+ = [^=]*? (infeed|outfeed|recv|send)\(", re.MULTILINE
)
_COLLECTIVE = re.compile(
    r"^\s*(?:ROOT )?%?[\w.-]+ = (?P<type>\(.*?\)|\S+) (?P<kind>all-reduce|all-gather|reduce-scatter"
    r"|ragged-all-to-all|all-to-all|collective-permute|collective-broadcast)(?P<start>-start)?\(",
    re.MULTILINE,
)
_ARRAY = re.compile(r"([a-z]+)(\d*)\w*\[([\d,]*)\]")
_CUSTOM_CALL = re.compile(r'custom_call_target="([^"]*)"')


@dataclass(frozen=True)
class Compiled:
    """Facts of one executable; sizes in bytes, of one device.

    `aliases`: argument index to result index. `copies`: copy instructions in all
    computations of the optimized HLO. `footprint`: argument + output - alias + temp.
    `transfers`: operations that wait for the host. `collectives`: what devices exchange.
    `arguments`, `results`: how each is split, as XLA writes it; empty for one device.
    """

    aliases: dict[int, int]
    copies: int
    temp_bytes: int
    footprint: int
    custom_calls: frozenset[str]
    transfers: frozenset[str]
    collectives: tuple[Collective, ...] = ()
    arguments: tuple[str, ...] = ()
    results: tuple[str, ...] = ()


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
    arguments, results = hlo_shardings(executable)
    return Compiled(
        aliases=alias_table(text.partition("\n")[0]),
        copies=len(_COPY.findall(text)),
        temp_bytes=stats.temp_size_in_bytes,
        footprint=footprint,
        custom_calls=frozenset(_CUSTOM_CALL.findall(text)),
        transfers=frozenset(_TRANSFER.findall(text)),
        collectives=collectives(text),
        arguments=arguments,
        results=results,
    )


def collectives(text: str) -> tuple[Collective, ...]:
    """What the devices of an HLO module exchange, by kind: instructions, and bytes of results.

    Bytes are those of one device, and of one pass through each loop.
    """
    found: dict[str, list[int]] = {}
    for match in _COLLECTIVE.finditer(text):
        sizes = [_array_bytes(*array.groups()) for array in _ARRAY.finditer(match["type"])]
        if match["start"] and match["kind"] != "all-reduce":  # operands, results, and context
            sizes = sizes[1:2]
        found.setdefault(match["kind"], []).append(sum(sizes))
    return tuple(Collective(kind, len(each), sum(each)) for kind, each in sorted(found.items()))


def _array_bytes(kind: str, bits: str, shape: str) -> int:
    """The bytes of `f32[4,8]`, packed; a `pred` has one for each element, a token none."""
    width = int(bits) if bits else 8 if kind == "pred" else 0
    count = math.prod(int(size) for size in shape.split(",") if size)
    return (count * width + 7) // 8


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
