"""Who else holds a buffer: two arguments that share one, views of numpy and dlpack."""

from __future__ import annotations

import gc
from collections.abc import Collection, Sequence
from typing import Any, Literal

from hlopass.diagnostics import Diagnostic, HlopassError, Where
from hlopass.values import Value

Holder = Literal["numpy", "other"]


def addresses(array: Any) -> tuple[int, ...] | None:
    """Where an array lies on each of its devices; None where the platform does not tell."""
    try:
        return tuple(address(shard.data) for shard in array.addressable_shards)
    except Exception:  # each platform has its own way to say that it has no raw pointers
        return None


def address(array: Any) -> int:
    """Where an array on one device lies."""
    return int(array.unsafe_buffer_pointer())


def entering_once(
    arguments: Sequence[Value], buffers: Sequence[Any], donated: Collection[int], label: str
) -> None:
    """Raises HlopassError where two arguments share a buffer that one of them gives away.

    The runtime refuses that too, but does not say which. Buffers are told apart by where they
    lie on each device, or as objects where the platform does not tell.
    """
    first: dict[tuple[int, int], int] = {}
    found: dict[tuple[int, int], None] = {}
    for argument, array in zip(arguments, buffers, strict=True):
        lies = addresses(array) if argument.bytes else ()
        for place in enumerate((id(array),) if lies is None else lies):
            other = first.setdefault(place, argument.index)
            if other != argument.index and {other, argument.index} & set(donated):
                found[other, argument.index] = None
    if found:
        raise HlopassError(_shared(pair[0], pair[1], arguments, donated, label) for pair in found)


def _shared(
    first: int, second: int, arguments: Sequence[Value], donated: Collection[int], label: str
) -> Diagnostic:
    one, other = arguments[first], arguments[second]
    given = one if first in donated else other
    message = f"{one} and {other} are given the same buffer, and {given} is donated"
    hint = "give one of them a copy: a donated buffer is overwritten"
    return Diagnostic("input-shared", message, Where(label), help=hint)


def holder(places: Sequence[int] | None) -> Holder:
    """Who holds a buffer that the runtime kept though it was donated.

    An array of numpy looks through Python's buffer protocol, which leaves an object that the
    garbage collector knows. What dlpack hands out leaves nothing.
    """
    wanted = set(places or ())
    for each in gc.get_objects():
        if type(each).__name__ != "managedbuffer":
            continue
        for owner in gc.get_referents(each):
            lies = addresses(owner) if hasattr(owner, "addressable_shards") else None
            if wanted & set(lies or ()):
                return "numpy"
    return "other"
