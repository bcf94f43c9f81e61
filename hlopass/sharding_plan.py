"""From the shardings that are asked for and those that a program carries to what is written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from hlopass.diagnostics import Diagnostic, Where, quoted
from hlopass.layout import TensorSharding
from hlopass.sharded import Dialect, Sharded
from hlopass.values import Value

Existing = Literal["error", "replace", "keep"]
"""What becomes of a sharding that a program carries and that differs from what is asked."""


@dataclass
class Writes:
    """Shardings to write, by index, or None to remove; what is carried and equal is left out."""

    shardings: dict[int, TensorSharding | None] = field(default_factory=dict)
    diagnostics: list[Diagnostic] = field(default_factory=list)


def settle(
    values: Sequence[Value],
    asked: Mapping[int, TensorSharding | None],
    carried: Mapping[int, Sharded],
    dialect: Dialect,
    existing: Existing,
) -> Writes:
    """What to write of the arguments, or of the results.

    An equal sharding stays as it is written; a replicated one may be overwritten, as one that
    is not there. Of any other, `existing` decides. To replace is to write as if the program
    carried none: what follows is removed, so that it can, and what is over another mesh is not
    equal.
    """
    writes = Writes()
    other: list[tuple[Value, Sharded, TensorSharding]] = []
    for index, sharding in sorted(asked.items()):
        value, old = values[index], carried.get(index)
        if sharding is None:
            if existing == "replace" and old is not None:
                writes.shardings[index] = None
            continue
        if dialect == "gspmd" and sharding.open_dims:
            writes.diagnostics.append(_not_open(value))
        if old is None or _may_be_overwritten(old, sharding):
            writes.shardings[index] = sharding
        elif not _equal(old, sharding, value) or _elsewhere(old, sharding, existing):
            if existing == "replace":
                writes.shardings[index] = sharding
            else:
                other.append((value, old, sharding))
    if other:
        found = _kept(other) if existing == "keep" else _differ(other, dialect)
        writes.diagnostics.append(found)
    return writes


def _equal(old: Sharded, asked: TensorSharding, value: Value) -> bool:
    """Whether a carried sharding is what is asked for, open dimensions too."""
    if old.tiles is None or old.open != bool(asked.open_dims):
        return False
    even = old.dialect == "shardy" and value.shape is not None
    layout = asked.even(value.shape) if even and value.shape is not None else asked
    return old.tiles.same_as(layout.tiles())


def _elsewhere(old: Sharded, asked: TensorSharding, existing: Existing) -> bool:
    """Whether to replace a sharding because its mesh is not the one that is asked for."""
    other = old.sharding is not None and not old.sharding.mesh.same_devices(asked.mesh)
    return other and existing == "replace"


def _may_be_overwritten(old: Sharded, asked: TensorSharding) -> bool:
    return old.is_replicated and not asked.is_replicated


def _differ(other: Sequence[tuple[Value, Sharded, TensorSharding]], dialect: Dialect) -> Diagnostic:
    """One error for all values that are sharded otherwise, the first few with both shardings."""
    value = other[0][0]
    message = f"{value} is sharded already, and not as the spec has it"
    if len(other) > 1:
        message = f"{len(other)} {value.role}s are sharded already, and not as the spec has it"
    notes = [
        f"{each} carries {_shown(old)}, and the spec asks for {_asked(asked, dialect)}"
        for each, old, asked in other[:3]
    ]
    notes += [f"and {len(other) - 3} more"] if len(other) > 3 else []
    hint = "--existing replace overwrites them, --existing keep leaves them; strip-sharding removes"
    return Diagnostic(
        "sharding-differs", message, value.where, notes=tuple(notes), help=f"{hint} all"
    )


def _shown(old: Sharded) -> str:
    partial = old.tiles is not None and old.tiles.subgroups
    if old.sharding is None or partial:
        return quoted(old.text) if old.dialect == "gspmd" else old.text
    return f"{dims(old.sharding)} over {old.sharding.mesh}"


def _asked(asked: TensorSharding, dialect: Dialect) -> str:
    return asked.to_gspmd() if dialect == "gspmd" else f"{dims(asked)} over {asked.mesh}"


def _kept(other: Sequence[tuple[Value, Sharded, TensorSharding]]) -> Diagnostic:
    shown = ", ".join(str(value) for value, _, _ in other[:3])
    more = f" and {len(other) - 3} more" if len(other) > 3 else ""
    message = f"{shown}{more}: the sharding that the program has is kept, not the spec's"
    return Diagnostic("sharding-kept", message, other[0][0].where, "warning")


def _not_open(value: Value) -> Diagnostic:
    message = f"{value} has open dimensions, which GSPMD's attribute cannot say: they are closed"
    hint = "dialect: shardy can say it"
    return Diagnostic("sharding-not-open", message, value.where, "warning", help=hint)


def dims(sharding: TensorSharding) -> str:
    """The dimensions of a sharding as Shardy writes them: `[{"data"}, {}]`."""
    return "[" + ", ".join(dim.to_sdy() for dim in sharding.dims) + "]"


def dialect_of(
    wanted: Literal["shardy", "gspmd", "same"],
    used: Mapping[Dialect, str],
    where: Where,
    label: str,
) -> Dialect | Diagnostic:
    """The dialect to write, or why none can be: XLA must not meet both in one program."""
    if len(used) > 1:
        return mixed(used, where)
    present = next(iter(used), None)
    if wanted == "same" or present is None or wanted == present:
        return present or ("gspmd" if wanted == "gspmd" else "shardy")
    message = f"the spec writes {wanted}, and the program's shardings are {present}"
    hint = f"write dialect: same, or convert the program first: convert-sharding{{to={wanted}}}"
    notes = (f"{present} is used by {quoted(used[present])}", f"asked for by {label}#/dialect")
    return Diagnostic("sharding-dialect", message, where, notes=notes, help=hint)


def mixed(used: Mapping[Dialect, str], where: Where) -> Diagnostic:
    """The finding where a program has both dialects."""
    shown = " and ".join(f"{dialect} (of {quoted(name)})" for dialect, name in used.items())
    message = f"the program mixes shardings of {shown}, of which XLA ignores one, or refuses both"
    hint = "convert-sharding{to=shardy}, or {to=gspmd}, makes them one"
    return Diagnostic("sharding-mixed", message, where, help=hint)
