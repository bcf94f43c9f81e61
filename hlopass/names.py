"""When a result's name says that it is an argument's next value.

A name is a root and a path: `state['params']['w']` is `state` with the path
`params`, `w`; `new_params.w` is `new_params` with the path `w`; `result[0]['w']` is
JAX's unnamed result 0 with the path `w`. Two names agree when

- both have a path, the paths are equal, and the roots are equal after words such as `new`
  and `out` are taken off, or the result's root is JAX's `result`; or
- neither has a path, and the roots are equal after those words are taken off.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence

from hlopass.values import Value

_ROOT = re.compile(r"result(?:\[\d+\])?(?![\w])|[^.\[/]+")
_STEP = re.compile(r"\.([^.\[/]+)|\[['\"]?([^\]'\"]*)['\"]?\]|/([^.\[/]+)")
_WORDS = frozenset({"new", "next", "updated", "out", "output", "old", "prev", "in", "input"})


@functools.lru_cache(maxsize=65536)
def split(name: str) -> tuple[str, tuple[str, ...]]:
    """The root of a name and the steps of its path."""
    found = _ROOT.match(name)
    if found is None:
        return "", (name,)
    steps = _STEP.findall(name, found.end())
    return found[0], tuple("".join(step) for step in steps)


def is_unnamed(root: str) -> bool:
    """Whether a root is JAX's own, `result` or `result[3]`."""
    return re.fullmatch(r"result(\[\d+\])?", root) is not None


@functools.lru_cache(maxsize=65536)
def stem(root: str) -> str:
    """A root without words that tell the old value from the new: `new_params`, `cache_out`."""
    words = [word for word in re.split(r"[_\s]+", root) if word]
    kept = [word for word in words if word.lower() not in _WORDS]
    return "_".join(kept or words)


def tail(name: str) -> str:
    """What all names that agree have in common, for looking them up."""
    root, path = split(name)
    return "\0".join(path) if path else stem(root)


def agree(argument: str | None, result: str | None) -> bool:
    """Whether a result's name is that of the argument's next value."""
    if argument is None or result is None:
        return False
    if argument == result:
        return True
    root, path = split(argument)
    result_root, result_path = split(result)
    if path != result_path:
        return False
    if path and is_unnamed(result_root):
        return True
    return stem(root) == stem(result_root)


def next_values(arguments: Sequence[Value], results: Sequence[Value]) -> dict[int, int]:
    """Pairs whose names agree and whose types are equal, where neither has another such mate."""
    by_path: dict[str, list[Value]] = {}
    for result in results:
        if result.name is not None:
            by_path.setdefault(tail(result.name), []).append(result)
    mates: dict[int, list[int]] = {}
    wanted: dict[int, list[int]] = {}
    for argument in arguments:
        if argument.name is None:
            continue
        for result in by_path.get(tail(argument.name), ()):
            if agree(argument.name, result.name) and _same_buffer(argument, result):
                mates.setdefault(argument.index, []).append(result.index)
                wanted.setdefault(result.index, []).append(argument.index)
    return {
        argument: found[0]
        for argument, found in mates.items()
        if len(found) == 1 and len(wanted[found[0]]) == 1
    }


def _same_buffer(argument: Value, result: Value) -> bool:
    return (argument.type, argument.memory_kind) == (result.type, result.memory_kind)
