"""Donations: the words for them, and what can be donated to what. Knows no MLIR."""

from __future__ import annotations

from typing import Literal, NamedTuple

import msgspec

from hlopass.diagnostics import Where
from hlopass.values import Value, fits

Kind = Literal["alias", "donor"]
Origin = Literal["explicit", "frontend", "names", "dataflow"]


class Donation(msgspec.Struct, frozen=True):
    """One argument whose buffer is given away: to `result`, or for XLA to use (a donor).

    `chosen`: the result was found by pairing, not named.
    """

    argument: Value
    result: Value | None
    kind: Kind
    origin: Origin
    optional: bool = False
    asked_at: Where | None = None
    chosen: bool = False


class Unfit(NamedTuple):
    """Why a donation cannot be: a diagnostic code, a reason, and the two values compared."""

    code: str
    reason: str
    note: str


def unfit(argument: Value, result: Value | None = None) -> Unfit | None:
    """What stands against donating an argument (to a result), if anything.

    XLA asks that both have the same number of bytes on each device, and aborts where their
    memory kinds differ; shape, element type and layout need not agree.
    """
    types = f"argument is {argument.described()}"
    reason = argument.obstacle
    if result is not None:
        types += f", result is {result.described()}"
        reason = reason or result.obstacle
    if reason is not None:
        return Unfit("donate-impossible", reason, types)
    if result is None:
        return None
    if fits(argument, result):
        return None
    if argument.uneven or result.uneven:
        uneven = argument if argument.uneven else result
        return Unfit("donate-uneven", f"the mesh axes do not divide {uneven}", types)
    if argument.bytes != result.bytes:
        return Unfit("donate-size-mismatch", "sizes differ", types)
    if argument.memory_kind != result.memory_kind:
        kinds = f"argument is in {_kind(argument)}, result in {_kind(result)}"
        return Unfit("donate-memory-kind", "memory kinds differ", kinds)
    return Unfit("donate-shard-mismatch", "their shards differ in size", types)


def _kind(value: Value) -> str:
    return "default memory" if value.memory_kind is None else f"'{value.memory_kind}'"
