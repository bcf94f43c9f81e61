"""How tensors lie over devices, as the rows and lines of a table for people. No MLIR."""

from __future__ import annotations

from collections.abc import Iterator

from hlopass.report import Inspected, Inspection
from hlopass.shard_report import Layout

_LEFT_OPEN = "(open)"


def is_told(inspection: Inspection) -> bool:
    """Whether there is something to tell: several devices, or a sharding."""
    values = (*inspection.arguments, *inspection.results)
    return inspection.devices > 1 or any(value.sharding is not None for value in values)


def columns(inspection: Inspection) -> list[str]:
    """The heads of the columns."""
    becomes = ["becomes"] if inspection.propagates else []
    sizes = ["shard", "device bytes", "replicated", "extra bytes"]
    return ["tensor", "name", "sharding", *becomes, *sizes]


def rows(inspection: Inspection) -> Iterator[list[str]]:
    """A row for each argument and result."""
    sides = (("argument", inspection.arguments), ("result", inspection.results))
    for role, values in sides:
        for value in values:
            row = [f"{role} {value.index}", value.name or "", _text(value.sharding)]
            if inspection.propagates:
                row.append(_text(value.propagated) or "replicated")
            yield [*row, *_layout(value, inspection.devices)]


def summary(inspection: Inspection) -> Iterator[str]:
    """The meshes and the sums, one a line."""
    for name, sizes in inspection.meshes.items():
        axes = ", ".join(f"{axis}={size}" for axis, size in sizes.items())
        yield f"mesh @{name}: {axes or 'one device'}"
    sums = inspection.per_device
    reused = f", of which {sums.reused:,} over donated arguments" if sums.reused else ""
    layouts = [value.layout for value in (*inspection.arguments, *inspection.results)]
    known = all(layout is not None and layout.device_bytes is not None for layout in layouts)
    least = "" if known else "at least "
    yield (
        f"each of {inspection.devices:,} devices holds {least}{sums.total:,} bytes: "
        f"arguments {sums.arguments:,}, results {sums.results:,}{reused}"
    )
    yield (
        f"replication costs {least}{sums.replicated:,} bytes on all devices, beyond one copy of "
        "each tensor"
    )
    open_ = sum(layout is not None and layout.open for layout in layouts)
    if open_:
        yield f"tensors left open, for propagation to split (--propagate tells how): {open_}"


def _text(sharding: str | None) -> str:
    """A sharding without what says that it is one."""
    return (sharding or "").removeprefix("#sdy.sharding<").removesuffix(">")


def _layout(value: Inspected, devices: int) -> list[str]:
    layout = value.layout
    if layout is None:
        return ["?", "?", "?", "?"]
    shape = "?" if layout.shard_shape is None else "x".join(map(str, layout.shard_shape))
    bytes_ = "?" if layout.device_bytes is None else f"{layout.device_bytes:,}"
    extra = "?" if layout.replicated_bytes is None else f"{layout.replicated_bytes:,}"
    shape = f"{shape or 'scalar'} {_LEFT_OPEN}" if layout.open else shape or "scalar"
    return [shape, bytes_, _replicated(layout, devices), extra]


def _replicated(layout: Layout, devices: int) -> str:
    """Over which axes a tensor is replicated, or on how many devices."""
    if layout.copies == 1:
        return "no"
    how = "fully" if layout.copies == devices else "partly"
    if layout.replicated_over is None:
        return f"{how}: on {layout.copies} devices"
    return f"{how}: over {', '.join(layout.replicated_over)}"
