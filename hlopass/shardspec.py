"""The lazy sharding spec: what its files say, bound to a mesh when sizes are known. No MLIR.

Reading and binding compute nothing but names and sizes; what a spec means for a program's
tensors is found by `Spec.check` before it is bound, as far as that needs no sizes, and by
`BoundSpec.resolve` after.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec

from hlopass import config_file
from hlopass.config_file import Checker, kind_of
from hlopass.diagnostics import Diagnostic, nearest_or_list, quoted
from hlopass.files import shown
from hlopass.gspmd import MOST_DEVICES
from hlopass.layout import Mesh
from hlopass.mesh_option import Mesh as MeshSizes
from hlopass.mesh_option import mesh_sizes
from hlopass.shard_entry import (
    ArgumentValue,
    Axes,
    AxisNames,
    Entry,
    EntryReader,
    Name,
    ResultValue,
    json_pointer,
)
from hlopass.shard_resolve import Resolved, Resolver
from hlopass.values import Role, Value

Dialect = Literal["shardy", "gspmd", "same"]
Size = Annotated[int, msgspec.Meta(ge=1)] | Literal["?"]


class SpecFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A sharding spec as it is written.

    `mesh`: axes with their sizes, the major one first; "?" is bound later. `axis_rules`: logical
    names and the mesh axes to try for each, in order. `args`, `results`: patterns, of which the
    first that matches counts; without `results`, every result follows. `dialect`: `same` is as
    the program already uses, or shardy. `allow_uneven`: accept dimensions that axes do not divide.
    """

    mesh: dict[Name, Size]
    version: Literal[1] = 1
    dialect: Dialect = "same"
    axis_rules: dict[Name, Axes] | tuple[tuple[Name, Axes], ...] = ()
    args: dict[str, ArgumentValue] = {}
    results: dict[str, ResultValue] = msgspec.field(default_factory=lambda: {"*": "follow"})
    allow_uneven: bool = False


@dataclass(frozen=True)
class Spec:
    """A spec that was read; a size of None is bound later.

    `allow_uneven`: what axes do not divide is accepted, of the program's own shardings too.
    """

    mesh: tuple[tuple[str, int | None], ...]
    arguments: tuple[Entry, ...] = ()
    results: tuple[Entry, ...] = ()
    dialect: Dialect = "same"
    allow_uneven: bool = False
    label: str = field(default="spec", compare=False)

    @property
    def open_axes(self) -> tuple[str, ...]:
        """The mesh axes that have no size yet."""
        return tuple(name for name, size in self.mesh if size is None)

    @property
    def entries(self) -> dict[Role, tuple[Entry, ...]]:
        """The patterns for arguments and for results."""
        return {"argument": self.arguments, "result": self.results}

    def check(self, arguments: Sequence[Value], results: Sequence[Value]) -> list[Diagnostic]:
        """All that can be said of a program before the open axes have sizes, errors and warnings.

        A dimension is checked against those of its axes whose sizes are known.
        """
        mesh = Mesh(tuple((name, size or 1) for name, size in self.mesh))
        resolver = Resolver(mesh, self.label, self.open_axes)
        return list(resolver.resolve(self.entries, arguments, results, {}).diagnostics)

    def given(self, mesh: MeshSizes) -> Spec:
        """The spec with sizes for some of its open axes. Raises HlopassError with every mistake."""
        checker = Checker(self.label)
        sizes = _given(checker, dict(self.mesh), mesh_sizes(mesh))
        checker.finish()
        return replace(self, mesh=tuple(sizes.items()))

    def bind(self, mesh: MeshSizes | None = None, devices: int | None = None) -> BoundSpec:
        """The spec on a mesh: sizes by name for axes that are open, or what divides `devices`.

        `mesh`: as in `{"data": 4, "model": 2}` or "data=4,model=2".
        `devices` solves one open axis, and must be the product of all sizes. The spec itself
        stays as it is and may be bound again. Raises HlopassError with every mistake.
        """
        sizes = dict(self.given({} if mesh is None else mesh).mesh)
        checker = Checker(self.label)
        bound = _solved(checker, sizes, devices)
        checker.finish()
        return BoundSpec(self, Mesh(tuple(bound.items())))


@dataclass(frozen=True)
class BoundSpec:
    """A spec whose mesh has sizes."""

    spec: Spec
    mesh: Mesh

    def resolve(
        self,
        arguments: Sequence[Value],
        results: Sequence[Value],
        reuses: Mapping[int, int] | None = None,
    ) -> Resolved:
        """The sharding of every tensor that the spec means.

        `reuses`: for each result that is written over an argument, that argument's index. Raises
        nothing: mistakes are among the diagnostics, and their tensors have no sharding.
        """
        resolver = Resolver(self.mesh, self.spec.label)
        return resolver.resolve(self.spec.entries, arguments, results, reuses or {})


def load(path: Path | str) -> Spec:
    """Reads a spec file: TOML or YAML by suffix, JSON otherwise.

    Raises HlopassError with every mistake in it.
    """
    return from_data(config_file.read(path), shown(path))


def from_data(data: Any, label: str = "spec") -> Spec:
    """A spec from plain data.

    Raises HlopassError with every mistake, each at its JSON pointer under `label`.
    """
    checker = Checker(label)
    checker.fields(data, SpecFile, "", skip=("mesh", "axis_rules", "args", "results"))
    found = data if isinstance(data, dict) else {}
    mesh = _read_mesh(checker, found)
    rules = _read_rules(checker, found.get("axis_rules", ()), tuple(mesh))
    uneven = found.get("allow_uneven") is True
    misspelt = "axis_rules" not in found and any(
        each.code == "key-unknown" for each in checker.found
    )
    names = AxisNames(() if misspelt else tuple(mesh), rules)
    reader = EntryReader(checker, names, uneven)
    arguments = _read_entries(found, "args", reader, "argument")
    results = _read_entries(found, "results", reader, "result")
    checker.finish()
    if "results" not in found:
        results = (Entry("*", "/results", "/results", None, optional=True),)
    dialect = found.get("dialect", "same")
    return Spec(tuple(mesh.items()), arguments, results, dialect, uneven, label)


def schema() -> dict[str, Any]:
    """The JSON Schema (2020-12) of a spec. Which axes there are, it cannot check."""
    found = msgspec.json.schema(SpecFile)
    found["$defs"]["SpecFile"]["properties"]["mesh"]["minProperties"] = 1
    return found


def _given(
    checker: Checker, mesh: Mapping[str, int | None], given: Mapping[str, int]
) -> dict[str, int | None]:
    """The sizes of a mesh, open ones replaced by those that are given."""
    for name, size in given.items():
        at = json_pointer("mesh", str(name))
        if name not in mesh:
            message = f"the spec has no mesh axis {quoted(str(name))}"
            checker.add("axis-unknown", message, "/mesh", nearest_or_list(str(name), list(mesh)))
        elif mesh[name] not in (None, size):
            message = f"mesh axis {quoted(name)} is {mesh[name]} and cannot be bound to {size}"
            checker.add("mesh-fixed", message, at, 'write "?" for a size that is bound later')
        else:
            _check_size(checker, name, size, at)
    return {name: given.get(name, size) for name, size in mesh.items()}


def _solved(checker: Checker, sizes: dict[str, int | None], devices: int | None) -> dict[str, int]:
    """All sizes, the one open axis from the number of devices."""
    missing = [name for name, size in sizes.items() if size is None]
    known = math.prod(size for size in sizes.values() if size is not None)
    if devices is not None and not _is_count(devices):
        checker.add("mesh-devices", f"{devices!r} is no number of devices", "/mesh")
    elif len(missing) > 1 or (missing and devices is None):
        message = f"mesh axes without a size: {', '.join(map(quoted, missing))}"
        sizes_ = ",".join(f"{name}=N" for name in missing)
        hint = f"give sizes, or all but one and the number of devices: --mesh {sizes_} --devices N"
        checker.add("mesh-open", message, "/mesh", hint)
    elif devices is not None and (devices % known or (not missing and devices != known)):
        shown = ", ".join(f"{name}={size or '?'}" for name, size in sizes.items())
        hint = f"it takes {'a multiple of ' * bool(missing)}{known}"
        checker.add("mesh-devices", f"{devices} devices do not fit mesh {shown}", "/mesh", hint)
    if checker.found:
        return {}
    found = {name: size or (devices or 1) // known for name, size in sizes.items()}
    if math.prod(found.values()) > MOST_DEVICES:
        shown = ", ".join(f"{name}={size}" for name, size in found.items())
        message = f"mesh {shown} has {math.prod(found.values())} devices"
        checker.add("mesh-devices", message, "/mesh", f"at most {MOST_DEVICES} are supported")
    return found


def _read_mesh(checker: Checker, found: Mapping[Any, Any]) -> dict[str, int | None]:
    """The axes of a file's mesh with their sizes; those with mistakes too."""
    mesh = found.get("mesh", ())
    if "mesh" not in found:
        return {}
    if not isinstance(mesh, dict) or not mesh:
        if mesh != {}:
            message = f"expected an object of axes and their sizes, got {kind_of(mesh)}"
            hint = 'as in {"data": 4, "model": "?"}'
            checker.add("value-type", message, "/mesh", hint)
        else:
            hint = 'write them with their sizes, or "?" for one that is bound later'
            checker.add("mesh-empty", "the mesh has no axes", "/mesh", hint)
        return {}
    for name, size in mesh.items():
        at = json_pointer("mesh", str(name))
        _check_name(checker, name, at)
        if size != "?":
            _check_size(checker, str(name), size, at)
    return {str(name): None if size == "?" else size for name, size in mesh.items()}


def _check_name(checker: Checker, name: Any, at: str) -> None:
    try:
        msgspec.convert(name, Name)
    except msgspec.ValidationError:
        message = f"{quoted(str(name))} cannot be the name of an axis"
        hint = "a name is printable ASCII without spaces and = , ? \" \\, and not '...'"
        checker.add("axis-name", message, at, hint)


def _check_size(checker: Checker, name: str, size: Any, at: str) -> None:
    if not _is_count(size):
        message = f"the size of mesh axis {quoted(name)} is {kind_of(size)}"
        hint = 'a size is an integer of at least 1, or "?" for one that is bound later'
        checker.add("mesh-size", message, at, hint)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


def _read_rules(
    checker: Checker, rules: Any, mesh: tuple[str, ...]
) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """The rules of a file; an object is a list of its pairs."""
    if not isinstance(rules, (dict, list, tuple)):
        checker.value(rules, dict, "/axis_rules")
        return ()
    pairs = rules.items() if isinstance(rules, dict) else rules
    found = []
    for index, pair in enumerate(pairs):
        at = json_pointer("axis_rules", str(pair[0] if isinstance(rules, dict) else index))
        if not isinstance(pair, (list, tuple)) or len(pair) != 2:
            message = "a rule is a logical axis and the mesh axes for it: [name, axes]"
            checker.add("value-type", message, at)
            continue
        name, axes = pair
        _check_name(checker, name, at)
        found.append((str(name), _read_axes(checker, axes, mesh, at)))
        if name in mesh and found[-1][1] != (name,):
            message = f"{quoted(name)} is a mesh axis and a logical axis"
            checker.add("axis-ambiguous", message, at, "give the logical axis another name")
    return tuple(found)


def _read_axes(checker: Checker, axes: Any, mesh: tuple[str, ...], at: str) -> tuple[str, ...]:
    if axes is not None and not isinstance(axes, (str, list, tuple)):
        checker.value(axes, Axes, at)
        return ()
    names = () if axes is None else (axes,) if isinstance(axes, str) else tuple(axes)
    for index, name in enumerate(names):
        if not isinstance(name, str):
            checker.value(name, str, at)
        elif mesh and name not in mesh:
            hint = nearest_or_list(name, mesh)
            checker.add("axis-unknown", f"{quoted(name)} is no mesh axis", at, hint)
        elif name in names[:index]:
            checker.add("axis-repeated", f"mesh axis {quoted(name)} stands twice in a rule", at)
    return tuple(dict.fromkeys(name for name in names if isinstance(name, str)))


def _read_entries(
    found: Mapping[Any, Any], key: str, reader: EntryReader, role: Role
) -> tuple[Entry, ...]:
    """The patterns of `args` or `results`; a number that is a key is an index."""
    checker, patterns = reader.checker, found.get(key, {})
    if not isinstance(patterns, dict):
        checker.value(patterns, dict, f"/{key}")
        return ()
    entries = []
    seen: set[str] = set()
    for selector, value in patterns.items():
        at = json_pointer(key, str(selector))
        if isinstance(selector, bool) or not isinstance(selector, (str, int)):
            checker.value(selector, str, at)
        elif str(selector) in seen:
            message = f"key {quoted(str(selector))} stands twice in one object"
            checker.add("key-repeated", message, at)
        else:
            seen.add(str(selector))
            entries.append(reader.read(str(selector), value, at, role))
    return tuple(entry for entry in entries if entry is not None)
