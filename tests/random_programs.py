"""Random StableHLO programs, a few dozen operations of many kinds, each with a `main`.

`module(below)` writes one; `below(n)` chooses a number from 0 to n - 1, as hypothesis or as
`random.randrange` does.

Shapes and element types are few, so that values of one size meet often: a grid of floats or
integers, the same in other shapes, its rows and halves, and half-width floats. What XLA
would compute at once (a loop that never runs, a comparison of a value with itself) is left
out: the program that is compiled should be the one that is written.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar

Below = Callable[[int], int]

T = TypeVar("T")


def module(below: Below) -> str:
    """A random module as text."""
    return Writer(below).module()


class Type(NamedTuple):
    """A tensor type."""

    dims: tuple[int, ...]
    element: str

    def __str__(self) -> str:
        return f"tensor<{''.join(f'{size}x' for size in self.dims)}{self.element}>"


class Typed(NamedTuple):
    """A value in the text: its SSA name and its type."""

    name: str
    type: Type


GRID = Type((16, 16), "f32")
INTEGERS = Type((16, 16), "i32")
FLAT = Type((256,), "f32")
WIDE = Type((8, 32), "f32")
NARROW = Type((16, 16), "bf16")
HALF = Type((8, 16), "f32")
ROW = Type((16,), "f32")
LINE = Type((1, 16), "f32")
POSITIONS = Type((16,), "i32")
SCALAR = Type((), "f32")
INDEX = Type((), "i32")
TRUTH = Type((), "i1")

ARGUMENTS = (*(GRID,) * 6, INTEGERS, FLAT, WIDE, NARROW, HALF, ROW, POSITIONS)
_CARRIED = (GRID, GRID, INTEGERS, FLAT, ROW)


class Writer:
    """Writes one program. `scope` are the values that can be used where it writes."""

    def __init__(self, below: Below) -> None:
        self.below = below
        self.lines: list[str] = []
        self.scope: list[Typed] = []
        self.read: set[str] = set()
        self.constants: set[str] = set()
        self.roots: dict[str, str] = {}
        self.functions: list[str] = []
        self.count = 0
        self.depth = 0

    def module(self) -> str:
        """A whole module: its `main`, and the functions that it calls."""
        types = [GRID, INDEX, *self.several(ARGUMENTS, 0, 4)]
        self.scope = [Typed(f"%arg{at}", type_) for at, type_ in enumerate(types)]
        arguments = ", ".join(f"{name}: {type_}" for name, type_ in self.scope)
        self.operations(1, 40)
        results = [self.some(self.scope) for _ in range(1 + self.below(4))]
        if self.below(4):
            computed = [value for value in results if not value.name.startswith("%arg")]
            results = list(dict.fromkeys(computed or self.scope[-1:]))
        types = ", ".join(str(value.type) for value in results)
        names = ", ".join(value.name for value in results)
        body = "\n".join(_needed(self.lines, names))
        main = f"func.func public @main({arguments}) -> ({types}) {{\n{body}\nreturn {names}"
        return "\n".join(["module {", f"{main} : {types}\n}}", *self.functions, "}"])

    def pick(self, values: Sequence[T]) -> T:
        """One of them."""
        return values[self.below(len(values))]

    def several(self, values: Sequence[T], least: int, most: int) -> list[T]:
        """Some of them, perhaps the same one again."""
        return [self.pick(values) for _ in range(least + self.below(most - least + 1))]

    def some(self, values: Sequence[Typed]) -> Typed:
        """Some value: those that nothing reads yet are as likely as all together."""
        unread = [value for value in values if value.name not in self.read]
        return self.pick(unread if unread and self.below(2) else values)

    def operations(self, least: int, most: int) -> None:
        """Adds operations, drawn one by one."""
        kinds = FLAT_KINDS if self.depth > 1 else KINDS
        for write in self.several(kinds, least, most):
            write(self)

    def one(self, *types: Type) -> Typed:
        """A value in scope of one of some types, which is read; a new one where there is none."""
        found = [value for value in self.scope if value.type in types]
        if not found:
            self.make(types[0])
            found = self.scope[-1:]
        value = self.some(found)
        self.read.add(value.name)
        return value

    def another(self, value: Typed) -> Typed:
        """Another value of a value's type."""
        root = self.root(value)
        found = [each for each in self.scope if each.type == value.type and self.root(each) != root]
        if found:
            return self.some(found)
        return self.add(f"stablehlo.negate {value.name} : {value.type}", value.type)

    def root(self, value: Typed) -> str:
        """The name of the value that a value is, perhaps in another shape."""
        return self.roots.get(value.name, value.name)

    def make(self, type_: Type) -> None:
        """Adds a value of a type, computed from others where that is easy."""
        maker = _MAKERS.get(type_)
        if maker is None:
            self.constant(type_)
        else:
            maker(self)

    def constant(self, type_: Type) -> Typed:
        """A new constant."""
        number = 2 + self.below(3)
        literal = f"{number}.5" if "f" in type_.element else str(number)
        value = self.add(f"stablehlo.constant dense<{literal}> : {type_}", type_)
        self.constants.add(value.name)
        return value

    def index(self) -> Typed:
        """An index that is not known before the program runs."""
        found = [each for each in self.scope if each.type == INDEX]
        return next(each for each in found if each.name not in self.constants)

    def number(self, number: int) -> Typed:
        """A new constant index."""
        value = self.add(f"stablehlo.constant dense<{number}> : {INDEX}", INDEX)
        self.constants.add(value.name)
        return value

    def add(self, text: str, type_: Type) -> Typed:
        """Adds an operation with one result."""
        name = self.name()
        self.lines.append(f"{name} = {text}")
        self.scope.append(Typed(name, type_))
        return self.scope[-1]

    def add_many(self, text: str, types: list[Type]) -> None:
        """Adds an operation with several results."""
        name = self.name()
        self.lines.append(f"{name}:{len(types)} = {text}")
        self.scope += [Typed(f"{name}#{at}", type_) for at, type_ in enumerate(types)]

    def name(self) -> str:
        """A new SSA name."""
        self.count += 1
        return f"%v{self.count}"

    def region(
        self,
        types: list[Type],
        own: list[Typed],
        outside: list[Typed],
        most: int = 4,
        word: str = "stablehlo.return",
    ) -> str:
        """The text of a block with arguments of its `own`; it returns values of some types.

        They are seldom values from outside.
        """
        outer_lines, outer_scope = self.lines, self.scope
        self.lines, self.scope = [], [*outside, *own]
        self.depth += 1
        self.operations(0, most)
        if self.below(8):
            self.scope = self.scope[len(outside) :]
        found = [self.one(type_) for type_ in types]
        self.depth -= 1
        names = ", ".join(value.name for value in found)
        listed = ", ".join(str(type_) for type_ in types)
        text = "\n".join([*_needed(self.lines, names), f"{word} {names} : {listed}"])
        self.lines, self.scope = outer_lines, outer_scope
        return text


_VALUE = re.compile(r"%\w+")


def _needed(lines: Sequence[str], returned: str) -> list[str]:
    """Without operations whose results nothing reads."""
    needed = set(_VALUE.findall(returned))
    kept = []
    for line in reversed(lines):
        if _VALUE.findall(line)[0] in needed:
            needed.update(_VALUE.findall(line))
            kept.append(line)
    return kept[::-1]


# One function an operation


def _unary(to: Writer) -> None:
    value = to.one(GRID, GRID, FLAT, WIDE, HALF, ROW, NARROW)
    name = to.pick(("negate", "abs", "tanh", "cosine"))
    to.add(f"stablehlo.{name} {value.name} : {value.type}", value.type)


def _binary(to: Writer) -> None:
    left = to.one(GRID, INTEGERS, FLAT, WIDE, HALF, ROW, NARROW, POSITIONS, SCALAR, INDEX)
    right = to.one(left.type)
    same = to.root(left) == to.root(right)
    names = ("add", "multiply") if same else ("add", "subtract", "multiply", "maximum")
    name = to.pick(names)
    to.add(f"stablehlo.{name} {left.name}, {right.name} : {left.type}", left.type)


def _select(to: Writer) -> None:
    left = to.one(GRID, INTEGERS, FLAT)
    right = to.another(left)
    truth = left.type._replace(element="i1")
    pred = to.add(
        f"stablehlo.compare GT, {left.name}, {right.name} : ({left.type}, {left.type}) -> {truth}",
        truth,
    )
    other = to.another(right)
    to.add(
        f"stablehlo.select {pred.name}, {other.name}, {right.name} : {truth}, {left.type}",
        left.type,
    )


def _convert(to: Writer, *types: Type) -> None:
    value = to.one(*(type_ for type_ in (GRID, INTEGERS, NARROW) if (type_,) != types))
    others = [type_ for type_ in (GRID, INTEGERS, NARROW) if type_ != value.type]
    type_ = to.pick(types or others)
    to.add(f"stablehlo.convert {value.name} : ({value.type}) -> {type_}", type_)


def _bitcast(to: Writer) -> None:
    value = to.one(GRID, INTEGERS)
    type_ = INTEGERS if value.type == GRID else GRID
    to.add(f"stablehlo.bitcast_convert {value.name} : ({value.type}) -> {type_}", type_)


def _broadcast(to: Writer) -> None:
    value = to.one(ROW, SCALAR)
    dims = f"[{to.below(2)}]" if value.type == ROW else "[]"
    text = f"stablehlo.broadcast_in_dim {value.name}, dims = {dims} : ({value.type}) -> {GRID}"
    to.add(text, GRID)


def _reshape(to: Writer, *types: Type) -> None:
    value = to.one(GRID, FLAT, WIDE) if types else to.one(GRID, FLAT, WIDE, LINE, ROW)
    same = (GRID, FLAT, WIDE) if value.type in (GRID, FLAT, WIDE) else (LINE, ROW)
    type_ = to.pick(types or [each for each in same if each != value.type])
    made = to.add(f"stablehlo.reshape {value.name} : ({value.type}) -> {type_}", type_)
    to.roots[made.name] = to.root(value)


def _transpose(to: Writer) -> None:
    value = to.one(GRID, INTEGERS)
    text = f"stablehlo.transpose {value.name}, dims = [1, 0] : ({value.type}) -> {value.type}"
    to.add(text, value.type)


def _reverse(to: Writer) -> None:
    value = to.one(GRID, INTEGERS, FLAT)
    to.add(f"stablehlo.reverse {value.name}, dims = [0] : {value.type}", value.type)


def _slice(to: Writer) -> None:
    value, start = to.one(GRID), to.below(9)
    text = f"stablehlo.slice {value.name} [{start}:{start + 8}, 0:16] : ({GRID}) -> {HALF}"
    to.add(text, HALF)


def _pad(to: Writer) -> None:
    value, filler = to.one(HALF), to.one(SCALAR)
    low = to.below(9)
    text = (
        f"stablehlo.pad {value.name}, {filler.name}, low = [{low}, 0], high = [{8 - low}, 0], "
        f"interior = [0, 0] : ({HALF}, {SCALAR}) -> {GRID}"
    )
    to.add(text, GRID)


def _concatenate(to: Writer) -> None:
    first, second = to.one(HALF), to.one(HALF)
    text = f"stablehlo.concatenate {first.name}, {second.name}, dim = 0"
    to.add(f"{text} : ({HALF}, {HALF}) -> {GRID}", GRID)


def _dot(to: Writer) -> None:
    left, right = to.one(GRID), to.one(GRID)
    text = f"stablehlo.dot_general {left.name}, {right.name}, contracting_dims = [1] x [0]"
    to.add(f"{text} : ({GRID}, {GRID}) -> {GRID}", GRID)


def _reduce(to: Writer, *types: Type) -> None:
    value, start = to.one(GRID), to.constant(SCALAR)
    found = [each for each in _REDUCTIONS if not types or each[1] in types]
    dims, type_ = to.pick(found)
    text = f"stablehlo.reduce({value.name} init: {start.name}) applies stablehlo.add across"
    to.add(f"{text} dimensions = {dims} : ({GRID}, {SCALAR}) -> {type_}", type_)


_REDUCTIONS = (("[0]", ROW), ("[1]", ROW), ("[0, 1]", SCALAR))


def _running_sum(to: Writer) -> None:
    value, start = to.one(FLAT), to.constant(SCALAR)
    a, b, total = to.name(), to.name(), to.name()
    text = (
        f'"stablehlo.reduce_window"({value.name}, {start.name}) <{{'
        "padding = dense<[[255, 0]]> : tensor<1x2xi64>, window_dimensions = array<i64: 256>}> ({\n"
        f"^bb0({a}: {SCALAR}, {b}: {SCALAR}):\n{total} = stablehlo.add {a}, {b} : {SCALAR}\n"
        f"stablehlo.return {total} : {SCALAR}\n}}) : ({FLAT}, {SCALAR}) -> {FLAT}"
    )
    to.add(text, FLAT)


def _sort(to: Writer) -> None:
    value = to.one(GRID)
    a, b, less = to.name(), to.name(), to.name()
    text = (
        f'"stablehlo.sort"({value.name}) <{{dimension = 1 : i64}}> ({{\n'
        f"^bb0({a}: {SCALAR}, {b}: {SCALAR}):\n"
        f"{less} = stablehlo.compare LT, {a}, {b} : ({SCALAR}, {SCALAR}) -> {TRUTH}\n"
        f"stablehlo.return {less} : {TRUTH}\n}}) : ({GRID}) -> {GRID}"
    )
    to.add(text, GRID)


def _dynamic_slice(to: Writer) -> None:
    value, at, zero = to.one(GRID), to.one(INDEX), to.one(INDEX)
    text = f"stablehlo.dynamic_slice {value.name}, {at.name}, {zero.name}, sizes = [1, 16]"
    to.add(f"{text} : ({GRID}, {INDEX}, {INDEX}) -> {LINE}", LINE)


def _dynamic_update_slice(to: Writer) -> None:
    value, update = to.one(GRID), to.one(LINE, HALF)
    at, zero = to.one(INDEX), to.one(INDEX)
    names = f"{value.name}, {update.name}, {at.name}, {zero.name}"
    types = f"({GRID}, {update.type}, {INDEX}, {INDEX}) -> {GRID}"
    to.add(f"stablehlo.dynamic_update_slice {names} : {types}", GRID)


def _gather(to: Writer) -> None:
    value, where = to.one(GRID), to.one(POSITIONS)
    numbers = (
        "#stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], "
        "start_index_map = [0], index_vector_dim = 1>"
    )
    text = (
        f'"stablehlo.gather"({value.name}, {where.name}) <{{dimension_numbers = {numbers}, '
        f"slice_sizes = array<i64: 1, 16>}}> : ({GRID}, {POSITIONS}) -> {GRID}"
    )
    to.add(text, GRID)


def _scatter(to: Writer) -> None:
    value, where, update = to.one(GRID), to.one(POSITIONS), to.one(GRID)
    a, b, total = to.name(), to.name(), to.name()
    numbers = (
        "#stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], "
        "scatter_dims_to_operand_dims = [0], index_vector_dim = 1>"
    )
    text = (
        f'"stablehlo.scatter"({value.name}, {where.name}, {update.name}) '
        f"<{{scatter_dimension_numbers = {numbers}}}> ({{\n"
        f"^bb0({a}: {SCALAR}, {b}: {SCALAR}):\n{total} = stablehlo.minimum {a}, {b} : {SCALAR}\n"
        f"stablehlo.return {total} : {SCALAR}\n}}) : ({GRID}, {POSITIONS}, {GRID}) -> {GRID}"
    )
    to.add(text, GRID)


def _constant(to: Writer) -> None:
    to.constant(to.pick((GRID, ROW, INDEX, POSITIONS)))


def _barrier(to: Writer) -> None:
    values = [to.one(GRID), to.one(GRID, ROW)]
    names = ", ".join(value.name for value in values)
    types = [value.type for value in values]
    listed = ", ".join(map(str, types))
    to.add_many(f"stablehlo.optimization_barrier {names} : {listed}", types)
    for value, made in zip(values, to.scope[-2:], strict=True):
        to.roots[made.name] = to.root(value)


def _while(to: Writer) -> None:
    types = to.several(_CARRIED, 1, 3)
    start, step, limit = to.number(0), to.name(), to.number(2 + to.below(2))
    if to.below(2):
        limit = to.index()
    given = [to.one(type_) for type_ in types]
    count, less, more = to.name(), to.name(), to.name()
    carried = [Typed(to.name(), type_) for type_ in types]
    body = to.region(types, carried, to.scope)
    pairs = [(count, start.name)]
    pairs += [(inner.name, outer.name) for inner, outer in zip(carried, given, strict=True)]
    inside = ", ".join(f"{inner} = {outer}" for inner, outer in pairs)
    all_types = [INDEX, *types]
    head, last = body.rpartition("stablehlo.return ")[::2]
    names, listed = last.split(" : ")
    text = (
        f"stablehlo.while({inside}) : {', '.join(map(str, all_types))}\ncond {{\n"
        f"{less} = stablehlo.compare LT, {count}, {limit.name} : ({INDEX}, {INDEX}) -> {TRUTH}\n"
        f"stablehlo.return {less} : {TRUTH}\n}} do {{\n{head}"
        f"{step} = stablehlo.constant dense<1> : {INDEX}\n"
        f"{more} = stablehlo.add {count}, {step} : {INDEX}\n"
        f"stablehlo.return {more}, {names} : {INDEX}, {listed}\n}}"
    )
    to.add_many(text, all_types)


def _if(to: Writer) -> None:
    left, right = to.index(), to.number(1 + to.below(2))
    types = f"({INDEX}, {INDEX}) -> {TRUTH}"
    pred = to.add(f"stablehlo.compare LT, {left.name}, {right.name} : {types}", TRUTH)
    _branches(to, "if", pred, 2)


def _case(to: Writer) -> None:
    _branches(to, "case", to.index(), 3)


def _branches(to: Writer, name: str, which: Typed, count: int) -> None:
    types = to.several(_CARRIED, 1, 2)
    regions = ", ".join(f"{{\n{to.region(types, [], to.scope)}\n}}" for _ in range(count))
    listed = ", ".join(map(str, types))
    text = f'"stablehlo.{name}"({which.name}) ({regions}) : ({which.type}) -> ({listed})'
    to.add_many(text, types)


def _call(to: Writer) -> None:
    given = [to.index(), *(to.one(type_) for type_ in (GRID, *to.several(_CARRIED, 0, 2)))]
    types = to.several(_CARRIED, 1, 2)
    inside = [Typed(to.name(), value.type) for value in given]
    body = to.region(types, inside, [], 6, "return")
    taken = ", ".join(f"{name}: {type_}" for name, type_ in inside)
    listed = ", ".join(map(str, types))
    name = f"@f{len(to.functions)}"
    to.functions.append(f"func.func private {name}({taken}) -> ({listed}) {{\n{body}\n}}")
    names = ", ".join(value.name for value in given)
    passed = ", ".join(str(value.type) for value in given)
    to.add_many(f"func.call {name}({names}) : ({passed}) -> ({listed})", types)


_MAKERS: dict[Type, Callable[[Writer], None]] = {
    INTEGERS: lambda to: _convert(to, INTEGERS),
    NARROW: lambda to: _convert(to, NARROW),
    FLAT: lambda to: _reshape(to, FLAT),
    WIDE: lambda to: _reshape(to, WIDE),
    HALF: lambda to: _slice(to),
    ROW: lambda to: _reduce(to, ROW),
    LINE: lambda to: _dynamic_slice(to),
    SCALAR: lambda to: _reduce(to, SCALAR),
}

FLAT_KINDS = (
    *(_unary,) * 3,
    *(_binary,) * 6,
    *(_select, _convert, _bitcast, _broadcast, _reshape, _reshape, _transpose, _reverse),
    *(_slice, _pad, _concatenate, _dot, _dot, _reduce, _reduce, _running_sum, _sort),
    *(_dynamic_slice, _dynamic_slice, _dynamic_update_slice, _dynamic_update_slice),
    *(_gather, _scatter, _constant, _barrier),
)
KINDS = (*FLAT_KINDS, _while, _while, _if, _case, _call, _call)
