"""Which result each donated argument serves. Values in, pairs out; no MLIR."""

from __future__ import annotations

from collections.abc import Sequence

from hlopass.values import Value


def pair(arguments: Sequence[Value], results: Sequence[Value]) -> dict[int, int]:
    """Pairs donated arguments with results, index to index, each result once.

    Same type first, then same byte size, both in order; memory kinds must agree. What is
    left over finds no place in the answer.
    """
    pairs: dict[int, int] = {}
    free = [result for result in results if result.obstacle is None]
    for key in (_type, _size):
        waiting: dict[tuple[object, ...], list[Value]] = {}
        for result in free:
            waiting.setdefault(key(result), []).append(result)
        for argument in arguments:
            if argument.index not in pairs and (queue := waiting.get(key(argument))):
                pairs[argument.index] = queue.pop(0).index
        taken = set(pairs.values())
        free = [result for result in free if result.index not in taken]
    return pairs


def _type(value: Value) -> tuple[object, ...]:
    return value.type, value.memory_kind


def _size(value: Value) -> tuple[object, ...]:
    return value.bytes, value.memory_kind
