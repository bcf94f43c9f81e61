"""An argument or a result, and how people point at them: by index, name or pattern."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import msgspec

from hlopass.diagnostics import Diagnostic, HlopassError, Where, nearest_or_list, quoted

_MOST_DIGITS = 4000
"""Python reads no longer numbers; one cut to this length is out of range all the same."""

Role = Literal["argument", "result"]


class Value(msgspec.Struct, frozen=True):
    """An argument or a result of the entry function.

    `bytes` is what XLA allocates for it (sub-byte elements are packed), None where that is
    not known before the program runs. `obstacle` says why its buffer cannot be donated or
    reused, `internal` why a person cannot have meant it, `where` the place in the source.
    `shard_bytes` is what each device allocates, where the program splits it over devices;
    `open`: a result whose splitting is left to the partitioner; `uneven`: its axes do not
    divide it. `named_by`: what gave the name.
    """

    role: Role
    index: int
    name: str | None
    type: str
    bytes: int | None
    shape: tuple[int, ...] | None = None
    obstacle: str | None = None
    internal: str | None = None
    memory_kind: str | None = None
    where: Where | None = None
    shard_bytes: int | None = None
    open: bool = False
    uneven: bool = False
    named_by: str | None = None

    @property
    def rank(self) -> int | None:
        """The number of dimensions, dynamic ones too; None for what has none."""
        return None if self.dims is None else len(self.dims)

    @property
    def dims(self) -> tuple[int | None, ...] | None:
        """The sizes of the dimensions, None for a dynamic one; None for what has no rank.

        A value with dynamic dimensions has no `shape`: they are read off its type.
        """
        if self.shape is not None:
            return self.shape
        found = re.match(r"tensor<((?:(?:\d+|\?)x)*)", self.type)
        if found is None or self.type.startswith("tensor<*"):
            return None
        sizes = found[1].split("x")[:-1]
        return tuple(None if size == "?" else int(size) for size in sizes)

    @property
    def held(self) -> int | None:
        """The bytes that a device holds of it: all, or a shard."""
        return self.bytes if self.shard_bytes is None else self.shard_bytes

    def __str__(self) -> str:
        name = "" if self.name is None else f" {quoted(self.name)}"
        return f"{self.role} {self.index}{name}"

    def described(self) -> str:
        """The type with its bytes: `tensor<4xf32> (16 bytes, 4 on each device)`."""
        if self.bytes is None:
            return self.type
        each = "" if self.shard_bytes is None else f", {self.shard_bytes} on each device"
        return f"{self.type} ({self.bytes} bytes{each})"


def fits(argument: Value, result: Value) -> bool:
    """Whether a result can be written over an argument's buffer: same size, same memory."""
    return argument.memory_kind == result.memory_kind and same_size(argument, result)


def same_size(argument: Value, result: Value) -> bool:
    """Whether both have a buffer, of equally many bytes on each device, which XLA asks for.

    A result that is left open takes the splitting of an argument of its own shape. What is
    split unevenly has blocks of several sizes, and what XLA makes of them it does not say.
    """
    if argument.obstacle or result.obstacle or argument.uneven or result.uneven:
        return False
    if result.open and argument.shape == result.shape:
        return argument.bytes == result.bytes
    return argument.held == result.held


@dataclass(frozen=True)
class Selection:
    """What a selector found; `exact` where it named one value rather than a set."""

    values: tuple[Value, ...]
    exact: bool


def select(selector: int | str, values: Sequence[Value], role: Role, asked_at: Where) -> Selection:
    """The values that a selector of a manifest or spec means, in their own order.

    An int or a string of digits is an index, "3:9" a half-open range of indices as in
    Python, "re:..." a regular expression over the whole name, a string with `*` (any
    characters) or `?` (one character) a glob; brackets and quotes are plain characters,
    as they occur in pytree paths. A string that is a value's name means that one, whatever
    it looks like.

    Raises HlopassError where nothing is meant, or several by one name.
    """
    if isinstance(selector, int):
        return Selection((_by_index(selector, values, role, asked_at),), exact=True)
    named = tuple(value for value in values if value.name == selector)
    if len(named) > 1:
        indices = ", ".join(str(value.index) for value in named)
        message = f"{len(named)} {role}s are called {quoted(selector)}: {indices}"
        raise HlopassError(
            Diagnostic("name-ambiguous", message, asked_at, help="say which by its index")
        )
    if named:
        return Selection(named, exact=True)
    if selector.isdecimal():
        index = int(selector[:_MOST_DIGITS])
        return Selection((_by_index(index, values, role, asked_at),), exact=True)
    bounds = re.fullmatch(r"(\d*):(\d*)", selector)
    if bounds is not None and selector != ":":
        return Selection(_by_range(selector, bounds, values, role, asked_at), exact=False)
    return Selection(_by_pattern(selector, values, role, asked_at), exact=False)


def _by_index(index: int, values: Sequence[Value], role: Role, asked_at: Where) -> Value:
    if 0 <= index < len(values):
        return values[index]
    message = f"no {role} {index}: {_legal_indices(values, role)}"
    raise HlopassError(Diagnostic("index-out-of-range", message, asked_at))


def _legal_indices(values: Sequence[Value], role: Role) -> str:
    if not values:
        return f"the entry function has no {role}s"
    return f"{role}s are 0 to {len(values) - 1}" if len(values) > 1 else f"the only {role} is 0"


def _by_range(
    text: str, bounds: re.Match[str], values: Sequence[Value], role: Role, asked_at: Where
) -> tuple[Value, ...]:
    start = int(bounds[1][:_MOST_DIGITS] or 0)
    stop = int(bounds[2][:_MOST_DIGITS]) if bounds[2] else len(values)
    if start >= stop:
        message = f"range {quoted(text)} is empty: the end is not included"
        raise HlopassError(Diagnostic("range-empty", message, asked_at))
    if stop > len(values):
        legal = _legal_indices(values, role)
        message = f"range {quoted(text)} ends after the last {role}: {legal}"
        raise HlopassError(Diagnostic("index-out-of-range", message, asked_at))
    return tuple(values[start:stop])


def _by_pattern(
    selector: str, values: Sequence[Value], role: Role, asked_at: Where
) -> tuple[Value, ...]:
    pattern = compile_pattern(selector, asked_at)
    named = [value for value in values if value.name is not None]
    found = tuple(value for value in named if pattern.fullmatch(value.name or ""))
    if found or (selector == "*" and (found := tuple(values))):
        return found
    names = [value.name for value in named if value.name is not None]
    message = f"{quoted(selector)} is the name of no {role}"
    if is_pattern(selector):
        message = f"pattern {quoted(selector)} matches no {role}"
    if names:
        hint = nearest_or_list(selector, names)
    else:
        hint = f"the {role}s have no names; " * bool(values) + _legal_indices(values, role)
        hint += " (JAX writes names with as_text(debug_info=True))" * bool(values)
    raise HlopassError(Diagnostic(f"{role}-unknown", message, asked_at, help=hint))


def is_pattern(selector: str) -> bool:
    """Whether a selector is a glob or a regular expression rather than a name."""
    return selector.startswith("re:") or "*" in selector or "?" in selector


def _glob(selector: str) -> str:
    """A glob as a regular expression that does not try again: each star takes what is least.

    As `fnmatch.translate` has it, so that many stars cost no exponential time.
    """
    parts = [re.escape(part).replace(r"\?", ".") for part in selector.split("*")]
    if len(parts) == 1:
        return parts[0]
    between = "".join(f"(?>.*?{part})" for part in parts[1:-1] if part)
    return f"{parts[0]}{between}.*{parts[-1]}"


def compile_pattern(selector: str, asked_at: Where) -> re.Pattern[str]:
    """The regular expression of a glob or `re:` pattern; it must match the whole name."""
    if not selector.startswith("re:"):
        return re.compile(_glob(selector), re.DOTALL)
    try:
        return re.compile(selector[3:])
    except (re.error, RecursionError, OverflowError) as error:
        shown = quoted(selector if len(selector) < 100 else selector[:100] + " ...")
        message = f"{shown} is not a regular expression: {error}"
        raise HlopassError(Diagnostic("pattern-invalid", message, asked_at)) from None
