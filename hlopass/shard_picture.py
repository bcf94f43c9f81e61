"""A drawing of a sharded tensor in a terminal: which devices hold which block."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hlopass.layout import TensorSharding

_Axis = tuple[int | None, list[int | None]]
"""A dimension of the tensor and the blocks of it to draw; None stands for those left out."""


def picture(sharding: TensorSharding, shape: Sequence[int], most: int = 8) -> str:
    """Draws the blocks of a tensor of this shape, with the ids of the devices in each.

    One dimension goes across, two go down and across; of more, the two that are split most
    (what the others split lies in one cell together). At most `most` rows and columns are
    drawn. Raises ValueError for another rank.
    """
    down, across = _axes(sharding, most)
    held: dict[tuple[int, int], list[int]] = {}
    for device, block in zip(sorted(sharding.mesh.ids), sharding.blocks(), strict=True):
        row, column = (0 if dim is None else block[dim] for dim in (down[0], across[0]))
        held.setdefault((row, column), []).append(device)
    part = sharding.shard_shape(shape)
    labels = [
        [_label(dim, block, part, shape) for block in blocks] for dim, blocks in (down, across)
    ]
    cells = [
        ["…" if r is None or c is None else _runs(held[r, c]) for c in across[1]] for r in down[1]
    ]
    lines = [_title(sharding, shape, part), *_grid(labels[0], labels[1], cells)]
    if len(shape) > 2 and down[0] is not None:
        lines.insert(1, f"dimension {down[0]} goes down, {across[0]} across")
    elif len(shape) > 2 and across[0] is not None:
        lines.insert(1, f"dimension {across[0]} goes across")
    return "\n".join(line.rstrip() for line in lines)


def _axes(sharding: TensorSharding, most: int) -> tuple[_Axis, _Axis]:
    """What goes down and what goes across."""
    counts = sharding.counts
    dims: list[int] = list(range(len(counts)))
    if len(dims) > 2:
        dims = [dim for dim in dims if counts[dim] > 1]
        dims = sorted(sorted(dims, key=lambda dim: -counts[dim])[:2])
    chosen: list[int | None] = [None] * (2 - len(dims)) + list(dims)
    shown = [(dim, _shown(1 if dim is None else counts[dim], most)) for dim in chosen]
    return shown[0], shown[1]


def _shown(count: int, most: int) -> list[int | None]:
    if count <= most:
        return list(range(count))
    return [*range(max(1, most - 2)), None, count - 1]


def _label(dim: int | None, block: int | None, part: Sequence[int], shape: Sequence[int]) -> str:
    """The indices of a block as Python's slices have them."""
    if dim is None or block is None:
        return ""
    start, stop = (min(index * part[dim], shape[dim]) for index in (block, block + 1))
    return f"{start}:{stop}" if start < stop or not shape[dim] else "empty"


def _title(sharding: TensorSharding, shape: Sequence[int], part: Sequence[int]) -> str:
    whole = _by(shape) or "scalar"
    if sharding.is_replicated:
        return f"{whole}, whole on each device of {sharding.mesh}"
    return f"{whole} in {_by(sharding.counts)} blocks of {_by(part)} over {sharding.mesh}"


def _by(numbers: Sequence[int]) -> str:
    return "x".join(map(str, numbers))


def _runs(devices: list[int], most: int = 4) -> str:
    """Ids, neighbours as a range: `0-3,8`."""
    runs: list[list[int]] = []
    for device in devices:
        if runs and runs[-1][-1] + 1 == device:
            runs[-1].append(device)
        else:
            runs.append([device])
    words = [str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs]
    return ",".join(words if len(words) <= most else [*words[: most - 2], "…", words[-1]])


def _grid(rows: list[str], columns: list[str], cells: list[list[str]]) -> list[str]:
    """A table in lines, with a label for each row and column."""
    margin = max(map(len, rows))
    widths = [max(map(len, column)) for column in zip(columns, *cells, strict=True)]

    def rule(left: str, middle: str, right: str) -> str:
        bars = middle.join("─" * (width + 2) for width in widths)
        return f"{'':{margin}} {left}{bars}{right}"

    head = "   ".join(f"{name:^{width}}" for name, width in zip(columns, widths, strict=True))
    lines = [f"{'':{margin}}   {head}"] if any(columns) else []
    lines.append(rule("┌", "┬", "┐"))
    for index, (name, row) in enumerate(zip(rows, cells, strict=True)):
        if index:
            lines.append(rule("├", "┼", "┤"))
        body = " │ ".join(f"{cell:^{width}}" for cell, width in zip(row, widths, strict=True))
        lines.append(f"{name:>{margin}} │ {body} │")
    return [*lines, rule("└", "┴", "┘")]
