"""What a sharding spec says of one tensor: read, checked, and turned into mesh axes. No MLIR.

Logical names become mesh axes as Flax's `logical_to_mesh_axes` does it
(flax/linen/spmd.py), which MaxText uses too: rules are tried in their order, whatever the order
of dimensions; one fits where none of its mesh axes is used in this tensor yet; a name for which
none fits is replicated; a name may stand once in a tensor.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import EllipsisType
from typing import Annotated, Any, Literal

import msgspec

from hlopass.config_file import Checker, kind_of
from hlopass.diagnostics import HlopassError, nearest_or_list, quoted
from hlopass.layout import DimSharding
from hlopass.values import Role, compile_pattern

Name = Annotated[str, msgspec.Meta(pattern=r"^(?!\.\.\.$)[!#-+\--<>@-\[\]-~]+$")]
"""The name of an axis: printable ASCII without `=`, `,` and `?`, which mean something where axes
are written, and without what MLIR escapes, of which XLA dies (`absl::CUnescape`)."""

Dims = tuple[DimSharding | EllipsisType, ...]
Lost = tuple[tuple[int, str, tuple[str, ...]], ...]

Axes = str | tuple[str, ...] | None
"""One axis, several with the major one first, or none."""


class DimForm(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One dimension, written out; `open` lets propagation shard it further."""

    axes: Axes = None
    open: bool = False


DimValue = str | tuple[str, ...] | DimForm | None
"""One dimension: an axis, several, none, "?" for open, "..." for any number of replicated ones."""


class ArgumentForm(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One pattern of `args`, written out.

    `optional`: it may match nothing. `allow_uneven`: dimensions that their axes do not divide
    are accepted (GSPMD pads them, Shardy splits them into fewer blocks); null means as for the
    whole spec.
    """

    spec: Literal["replicated"] | tuple[DimValue, ...]
    optional: bool = False
    allow_uneven: bool | None = None


class ResultForm(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One pattern of `results`; `follow`: as the argument whose buffer it reuses."""

    spec: Literal["replicated", "follow"] | tuple[DimValue, ...]
    optional: bool = False
    allow_uneven: bool | None = None


ArgumentValue = Literal["replicated"] | tuple[DimValue, ...] | ArgumentForm
ResultValue = Literal["replicated", "follow"] | tuple[DimValue, ...] | ResultForm

WORDS: dict[Role, tuple[str, ...]] = {
    "argument": ("replicated",),
    "result": ("replicated", "follow"),
}
"""What may stand in place of a list of dimensions."""


def json_pointer(*keys: str) -> str:
    """A JSON pointer (RFC 6901)."""
    return "".join("/" + key.replace("~", "~0").replace("/", "~1") for key in keys)


@dataclass(frozen=True)
class AxisNames:
    """The mesh axes of a spec, and its rules: a logical name and the mesh axes to try for it."""

    mesh: tuple[str, ...]
    rules: tuple[tuple[str, tuple[str, ...]], ...] = ()

    @property
    def legal(self) -> list[str]:
        """Every name that an entry may use."""
        return list(dict.fromkeys([*self.mesh, *(name for name, _ in self.rules)]))

    def of(self, name: str) -> tuple[str, ...]:
        """The mesh axes that the rules have for a logical name, each once."""
        found = (axis for logical, axes in self.rules if logical == name for axis in axes)
        return tuple(dict.fromkeys(found))


@dataclass(frozen=True)
class Entry:
    """One pattern of a spec, in terms of mesh axes.

    `dims` is None for `follow`; an Ellipsis in it stands for any number of replicated
    dimensions. `asked_at` is the JSON pointer of the pattern, `pointer` that of the list.
    `lost`: logical axes for which no rule was left, each with its place in the list and the
    mesh axes that its rules have.
    """

    selector: str
    asked_at: str
    pointer: str
    dims: Dims | None
    optional: bool = False
    allow_uneven: bool = False
    lost: Lost = ()

    def fit(self, rank: int) -> list[tuple[str, DimSharding]] | None:
        """The sharding of each of `rank` dimensions and the pointer to where it is written.

        None where the entry has another number of them.
        """
        dims = self.dims or ()
        spread = rank - len([dim for dim in dims if not isinstance(dim, EllipsisType)])
        if spread < 0 or (spread > 0 and ... not in dims):
            return None
        found = []
        for index, dim in enumerate(dims):
            at = f"{self.pointer}/{index}"
            if isinstance(dim, EllipsisType):
                found += [(at, DimSharding())] * spread
            else:
                found.append((at, dim))
        return found


@dataclass(frozen=True)
class _Written:
    """A dimension as it is written: names of axes, mesh or logical."""

    names: tuple[str, ...]
    open: bool = False


class EntryReader:
    """Reads the entries of a spec; mistakes go to the checker.

    `uneven` is what the spec as a whole allows.
    """

    def __init__(self, checker: Checker, names: AxisNames, uneven: bool) -> None:
        self.checker = checker
        self.names = names
        self.uneven = uneven

    def read(self, selector: str, value: Any, pointer: str, role: Role) -> Entry | None:
        """One entry, or None; with mistakes it means little. `pointer` is that of the pattern."""
        try:
            if selector.startswith("re:"):
                compile_pattern(selector, self.checker.at(pointer))
        except HlopassError as error:
            self.checker.found += error.diagnostics
        if not isinstance(value, dict):
            dims, lost = self._spec(value, pointer, role)
            return Entry(selector, pointer, pointer, dims, False, self.uneven, lost)
        form = ArgumentForm if role == "argument" else ResultForm
        if not self.checker.fields(value, form, pointer, skip=("spec",)):
            return None
        inside = f"{pointer}/spec"
        dims, lost = self._spec(value["spec"], inside, role)
        uneven = value.get("allow_uneven")
        uneven = self.uneven if uneven is None else uneven is True
        optional = value.get("optional") is True
        return Entry(selector, pointer, inside, dims, optional, uneven, lost)

    def _spec(self, value: Any, pointer: str, role: Role) -> tuple[Dims | None, Lost]:
        if value == "follow" and role == "result":
            return None, ()
        if value == "replicated":
            return (...,), ()
        if isinstance(value, str):
            hint = nearest_or_list(value, WORDS[role])
            hint += ", or a list with an entry for each dimension"
            self.checker.add("value-illegal", f"illegal value {quoted(value)}", pointer, hint)
            return (), ()
        if not isinstance(value, (list, tuple)):
            words = " or ".join(map(quoted, WORDS[role]))
            message = f"expected a list with an entry for each dimension, or {words}"
            self.checker.add("value-type", f"{message}, got {kind_of(value)}", pointer)
            return (), ()
        dims = [self._dim(item, f"{pointer}/{index}") for index, item in enumerate(value)]
        if dims.count(...) > 1:
            message = '"..." stands twice: how many dimensions each stands for is not known'
            self.checker.add("ellipsis-repeated", message, pointer, "write null for one of them")
        if not self._names_are_right(dims, pointer):
            return (), ()
        chosen = assign(dims, self.names)
        lost = [(i, name) for i, name in _names(dims) if name not in chosen]
        return tuple(_chosen(dims, chosen)), tuple((*each, self.names.of(each[1])) for each in lost)

    def _dim(self, item: Any, pointer: str) -> _Written | EllipsisType:
        if item == "...":
            return ...
        if item == "?":
            return _Written((), open=True)
        if not isinstance(item, dict):
            return _Written(self._axes(item, DimValue, pointer))
        self.checker.fields(item, DimForm, pointer, skip=("axes",))
        axes = self._axes(item.get("axes"), Axes, f"{pointer}/axes")
        return _Written(axes, item.get("open") is True)

    def _axes(self, value: Any, type_: Any, pointer: str) -> tuple[str, ...]:
        if not isinstance(value, (list, tuple)):
            self.checker.value(value, type_, pointer)
            return (value,) if isinstance(value, str) else ()
        for index, name in enumerate(value):
            self.checker.value(name, str, f"{pointer}/{index}")
        return tuple(name for name in value if isinstance(name, str))

    def _names_are_right(self, dims: Sequence[_Written | EllipsisType], pointer: str) -> bool:
        """Whether every name is an axis that is used once; an unreadable mesh has no names."""
        before = len(self.checker.found)
        first: dict[str, int] = {}
        for index, name in _names(dims) if self.names.mesh else ():
            at = f"{pointer}/{index}"
            if name not in self.names.legal:
                message = f"{quoted(name)} is neither a mesh axis nor a logical axis"
                self.checker.add("axis-unknown", message, at, _axis_help(name, self.names))
            elif name in first:
                places = f"by entries {first[name]} and {index}"
                places = "twice by one entry" if first[name] == index else places
                kind = "mesh axis" if name in self.names.mesh else "logical axis"
                message = f"{kind} {quoted(name)} is used {places}: a tensor uses an axis once"
                self.checker.add("axis-repeated", message, at)
            first.setdefault(name, index)
        return len(self.checker.found) == before


def _axis_help(name: str, names: AxisNames) -> str:
    if name in ("?", "..."):
        return 'an open dimension with axes is {"axes": [...], "open": true}'
    if not name:
        return "a dimension that is not split is null, or [] in TOML"
    return nearest_or_list(name, names.legal)


def _names(dims: Sequence[_Written | EllipsisType]) -> Iterator[tuple[int, str]]:
    """The names in a list of dimensions, each with the index of its entry."""
    for index, dim in enumerate(dims):
        if not isinstance(dim, EllipsisType):
            yield from ((index, name) for name in dim.names)


def assign(dims: Sequence[_Written | EllipsisType], names: AxisNames) -> dict[str, tuple[str, ...]]:
    """The mesh axes of each name that is written, by the first rule that fits it.

    Mesh axes that the entry names itself are taken before any rule is tried. A name for which
    no rule is left is missing.
    """
    written = [name for _, name in _names(dims)]
    chosen: dict[str, tuple[str, ...]] = {n: (n,) for n in written if n in names.mesh}
    used = set(chosen)
    for logical, axes in names.rules:
        if logical in written and logical not in chosen and used.isdisjoint(axes):
            chosen[logical] = axes
            used.update(axes)
    return chosen


def _chosen(
    dims: Sequence[_Written | EllipsisType], chosen: Mapping[str, tuple[str, ...]]
) -> Iterator[DimSharding | EllipsisType]:
    """The dimensions with names replaced by mesh axes."""
    for dim in dims:
        if isinstance(dim, EllipsisType):
            yield dim
        else:
            axes = tuple(axis for name in dim.names for axis in chosen.get(name, ()))
            yield DimSharding(axes, dim.open)
