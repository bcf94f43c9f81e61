"""What a sharding spec means for a program's arguments and results. No MLIR."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from hlopass.diagnostics import Diagnostic, HlopassError, Where, quoted, together
from hlopass.layout import DimSharding, Mesh, TensorSharding
from hlopass.shard_entry import Entry
from hlopass.values import Role, Value, select


@dataclass(frozen=True)
class Resolved:
    """The shardings that a spec asks for, by index, and what was found on the way.

    What no pattern matches is in neither table and stays as it is. A result of None is left
    open: it follows an argument, and reuses none that has a sharding. Where `ok` is False,
    tensors with mistakes are missing too. `follows`: for each pattern by which results follow,
    which results do.
    """

    arguments: dict[int, TensorSharding]
    results: dict[int, TensorSharding | None]
    diagnostics: tuple[Diagnostic, ...] = ()
    follows: dict[Entry, tuple[int, ...]] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        """Whether there is no error; there may be warnings."""
        return all(found.severity != "error" for found in self.diagnostics)


@dataclass
class Resolver:
    """Applies entries to values; collects every mistake.

    `open_axes` have size 1 in `mesh` and no size yet: dimensions are checked without them.
    """

    mesh: Mesh
    label: str
    open_axes: tuple[str, ...] = ()
    found: list[Diagnostic] = field(default_factory=list)

    def resolve(
        self,
        entries: Mapping[Role, Sequence[Entry]],
        arguments: Sequence[Value],
        results: Sequence[Value],
        reuses: Mapping[int, int],
    ) -> Resolved:
        """Both tables. `reuses`: the argument that each result is written over."""
        asked: dict[int, TensorSharding] = {}
        for entry, value in self._claimed(entries["argument"], arguments, "argument"):
            sharding = self._sharding(entry, value)
            if sharding is not None:
                asked[value.index] = sharding
        wanted: dict[int, TensorSharding | None] = {}
        follows: dict[Entry, tuple[int, ...]] = {}
        for entry, value in self._claimed(entries["result"], results, "result"):
            if entry.dims is None:
                follows[entry] = (*follows.get(entry, ()), value.index)
                argument = reuses.get(value.index)
                followed = None if argument is None else arguments[argument]
                wanted[value.index] = self._follow(entry, value, followed, asked)
                continue
            sharding = self._sharding(entry, value)
            if sharding is not None:
                wanted[value.index] = sharding
        return Resolved(asked, wanted, tuple(self._together()), follows)

    def _claimed(
        self, entries: Sequence[Entry], values: Sequence[Value], role: Role
    ) -> Iterator[tuple[Entry, Value]]:
        """Each value with the first entry that matches it; entries that match none are told."""
        taken: dict[int, Entry] = {}
        for entry in entries:
            try:
                selection = select(entry.selector, values, role, self._at(entry.asked_at))
            except HlopassError as error:
                missing = error.diagnostics[0].code == f"{role}-unknown"
                if not (entry.optional and missing):
                    self.found += error.diagnostics
                continue
            fresh = [value for value in selection.values if value.index not in taken]
            if not fresh:
                self.found.append(self._hidden(entry, selection.values, taken))
            self.found += [self._lost(entry, *lost) for lost in entry.lost]
            for value in fresh:
                taken[value.index] = entry
                shardable = value.dims is not None and value.internal is None
                if selection.exact or shardable:
                    yield entry, value

    def _hidden(
        self, entry: Entry, values: Sequence[Value], taken: Mapping[int, Entry]
    ) -> Diagnostic:
        before = dict.fromkeys(quoted(taken[value.index].selector) for value in values)
        many = f"{len(values)} {values[0].role}s" if len(values) > 1 else str(values[0])
        message = f"pattern {quoted(entry.selector)} has no effect: {many} matched before"
        notes = (f"matched by {', '.join(before)}",)
        hint = "the first pattern that matches counts: put the narrower one first"
        where = self._at(entry.asked_at)
        return Diagnostic("pattern-hidden", message, where, "warning", notes, hint)

    def _lost(self, entry: Entry, index: int, name: str, axes: Sequence[str]) -> Diagnostic:
        taken = ", ".join(map(quoted, axes))
        message = f"logical axis {quoted(name)} splits nothing here: another dimension of the"
        message += f" pattern has {taken}"
        note = "as in Flax, a rule whose mesh axis a tensor uses already does not count"
        hint = f"where that is meant, say so with null, or by a last rule [{quoted(name)}, null]"
        where = self._at(f"{entry.pointer}/{index}")
        return Diagnostic("axis-rule-taken", message, where, "warning", (note,), hint)

    def _together(self) -> Iterator[Diagnostic]:
        """What was found; of errors that one place of the spec makes alike, one."""
        groups: dict[tuple[Any, ...], list[Diagnostic]] = {}
        for each in self.found:
            alike = (each.code, each.where, each.help) if each.severity == "error" else each
            groups.setdefault((alike,), []).append(each)
        for group in groups.values():
            yield from together(group, f"the pattern does not fit {len(group)} tensors")

    def _sharding(self, entry: Entry, value: Value) -> TensorSharding | None:
        dims = value.dims
        if dims is None:
            message = f"cannot shard {value}: {value.obstacle or 'it is not a tensor'}"
            self._add("shard-impossible", message, entry.pointer, value)
            return None
        written = entry.fit(len(dims))
        if written is None:
            self._wrong_rank(entry, value, len(dims))
            return None
        before = len(self.found)
        for index, (pointer, dim) in enumerate(written):
            if not entry.allow_uneven:
                self._check_dimension(value, index, dims[index], dim, pointer)
        if len(self.found) > before:
            return None
        return TensorSharding(self.mesh, tuple(dim for _, dim in written))

    def _wrong_rank(self, entry: Entry, value: Value, rank: int) -> None:
        given = len([dim for dim in entry.dims or () if isinstance(dim, DimSharding)])
        count = f"{given} dimension{'s' * (given != 1)}"
        if rank == 0:
            message = f"cannot shard {value}: it is a scalar, and the entry has {count}"
            hint = 'give scalars "replicated" or [], by a pattern before this one'
        else:
            least = "at least " * (... in (entry.dims or ()))
            message = f"cannot shard {value}: it has {rank} dimensions, the entry {least}{given}"
            message = message.replace(" 1 dimensions", " 1 dimension")
            hint = f'write {rank}, or "..." for any number of replicated ones'
        self._add("shard-rank", message, entry.pointer, value, hint)

    def _check_dimension(
        self, value: Value, index: int, size: int | None, dim: DimSharding, pointer: str
    ) -> None:
        """Whether the axes divide a dimension. If not, GSPMD pads it in silence, and Shardy splits
        it into fewer blocks.
        """
        sizes = self.mesh.sizes
        count = 1
        for axis in dim.axes:
            count *= sizes[axis]
        over = ", ".join(
            f"{axis}={'?' if axis in self.open_axes else sizes[axis]}" for axis in dim.axes
        )
        message = f"cannot shard dimension {index} of {value} over {over}"
        if size is None and (count > 1 or set(dim.axes) & set(self.open_axes)):
            message = f"{message}: it is dynamic, and may not be divisible"
            hint = "allow_uneven: true accepts it"
            self._add("shard-dynamic", message, pointer, value, hint)
        elif size is not None and size % count:
            message = f"{message}: {size} is not divisible by {count}"
            self._add("shard-uneven", message, pointer, value, self._legal(size))

    def _legal(self, size: int) -> str:
        """Into how many blocks a dimension divides, and the axes that do it."""
        counts = [count for count in range(2, min(size, 4096) + 1) if size % count == 0]
        shown = ", ".join(map(str, counts[:8])) + ", ..." * (len(counts) > 8)
        fitting = [
            f"{name}={count}"
            for name, count in self.mesh.axes
            if count > 1 and size % count == 0 and name not in self.open_axes
        ]
        over = f", as over {' or '.join(fitting)}" if fitting else ""
        legal = (
            f"{size} divides into {shown} blocks{over}" if counts else f"{size} is not divisible"
        )
        return f"{legal}; allow_uneven: true accepts it"

    def _follow(
        self,
        entry: Entry,
        result: Value,
        argument: Value | None,
        asked: Mapping[int, TensorSharding],
    ) -> TensorSharding | None:
        if argument is None or argument.index not in asked:
            return None
        if argument.dims == result.dims:
            return asked[argument.index]
        message = f"{result} cannot follow {argument}, which it reuses: their shapes differ"
        notes = (f"argument is {argument.described()}", f"result is {result.described()}")
        hint = "it is left open; give it a sharding of its own, by a pattern before this one"
        where = self._at(entry.asked_at)
        self.found.append(Diagnostic("shard-follow", message, where, "warning", notes, hint))
        return None

    def _at(self, pointer: str) -> Where:
        return Where(self.label, pointer=pointer)

    def _add(
        self, code: str, message: str, pointer: str, value: Value, help: str | None = None
    ) -> None:
        notes = (f"{value.role} is {value.described()}",)
        self.found.append(Diagnostic(code, message, self._at(pointer), "error", notes, help))
