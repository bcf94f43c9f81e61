"""A drawing of a sharded tensor in a terminal: which devices hold which block. No MLIR."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hlopass.diagnostics import quoted

if TYPE_CHECKING:
    from hlopass.shard_report import Picture

_ROWS = 16
"""The most rows of blocks that a grid has."""

_COLUMNS = (16, 12, 8, 6, 4, 3)
"""The numbers of columns to try until a grid is narrow enough."""

_GRIDS = 4
"""The most grids that are drawn, where more than two dimensions are split."""

_LEFT_OUT = None
"""Stands for the blocks of a dimension that are not drawn."""

_ASCII = str.maketrans(dict.fromkeys("┌┬┐├┼┤└┴┘", "+") | {"─": "-", "│": "|", "…": "..."})

_Blocks = list[int | None]


def draw(picture: Picture, width: int = 100, ascii: bool = False) -> str:
    """The drawing, in lines of at most `width` columns where three blocks a row fit into that.

    One dimension goes across, two go down and across. Of more, the two that are split most
    are drawn, once for each block of the others that are split. Where there are many blocks,
    those at both ends are drawn. `ascii`: with the characters `+-|` for boxes.
    """
    attempts = (_drawing(picture, columns) for columns in _COLUMNS)
    fits = (text for text in attempts if max(map(len, text.split("\n"))) <= width)
    text = next(fits, None) or _drawing(picture, _COLUMNS[-1])
    return text.translate(_ASCII) if ascii else text


def can_draw(encoding: str | None) -> bool:
    """Whether text in an encoding can have the characters that draw boxes."""
    try:
        "".join(map(chr, _ASCII)).encode(encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def _drawing(picture: Picture, columns: int) -> str:
    down, across, others = _axes(picture.tile)
    lines = [_title(picture)]
    if len(picture.tile) > 2 and across is not None:
        lines.append(_directions(down, across))
    rows, cells = _shown(picture, down, _ROWS), _shown(picture, across, columns)
    places = [*itertools.product(*(range(picture.tile[dim]) for dim in others))]
    for place in places[:_GRIDS]:
        fixed = dict(zip(others, place, strict=True))
        if fixed:
            labels = (f"dimension {dim} at {_label(picture, dim, fixed[dim])}" for dim in others)
            lines.append(", ".join(labels))
        lines += _Grid(picture, down, across, fixed).lines(rows, cells)
    if len(places) > _GRIDS:
        lines.append(f"… and {len(places) - _GRIDS} more such grids")
    return "\n".join(line.rstrip() for line in lines)


def _axes(tile: Sequence[int]) -> tuple[int | None, int | None, list[int]]:
    """The dimensions that go down and across, and the others that are split."""
    dims = list(range(len(tile)))
    if len(dims) > 2:
        dims = [dim for dim in dims if tile[dim] > 1]
    chosen = sorted(sorted(dims, key=lambda dim: -tile[dim])[:2])
    down = chosen[0] if len(chosen) == 2 else None
    across = chosen[-1] if chosen else None
    return down, across, [dim for dim in dims if dim not in chosen]


def _title(picture: Picture) -> str:
    name = "" if picture.name is None else f" {quoted(picture.name)}"
    whole = f"{picture.role} {picture.index}{name}: {_by(picture.shape) or 'scalar'}"
    if len(picture.blocks) == 1:
        (devices,) = picture.blocks
        each = f"each of {len(devices)} devices"
        return f"{whole}, whole on {each if len(devices) > 1 else f'device {devices[0]}'}"
    part = [-(-size // count) for size, count in zip(picture.shape, picture.tile, strict=True)]
    return f"{whole} in {_by(picture.tile)} blocks of {_by(part)} over {picture.over}"


def _directions(down: int | None, across: int) -> str:
    if down is None:
        return f"dimension {across} goes across"
    return f"dimension {down} goes down, {across} across"


def _by(numbers: Sequence[int]) -> str:
    return "x".join(map(str, numbers))


def _shown(picture: Picture, dim: int | None, most: int) -> _Blocks:
    """The blocks of a dimension that are drawn."""
    count = 1 if dim is None else picture.tile[dim]
    if count <= most:
        return list(range(count))
    return [*range(most - 2), _LEFT_OUT, count - 1]


def _label(picture: Picture, dim: int | None, block: int | None) -> str:
    """The elements in a block, as Python's slices have them."""
    if dim is None or block is None:
        return ""
    size = picture.shape[dim]
    step = -(-size // picture.tile[dim])
    start, stop = (min(index * step, size) for index in (block, block + 1))
    return f"{start}:{stop}" if start < stop or not size else "empty"


@dataclass(frozen=True)
class _Grid:
    """The blocks of two dimensions; of the others, those that are `fixed`."""

    picture: Picture
    down: int | None
    across: int | None
    fixed: dict[int, int]

    def lines(self, rows: _Blocks, columns: _Blocks) -> list[str]:
        """The grid of these blocks, with the elements in them at its edges."""
        return _table(
            [_label(self.picture, self.down, row) for row in rows],
            [_label(self.picture, self.across, column) for column in columns],
            [[self._cell(row, column) for column in columns] for row in rows],
        )

    def _cell(self, row: int | None, column: int | None) -> str:
        if row is None or column is None:
            return "…"
        at = {self.down: row, self.across: column}
        place = 0
        for dim, count in enumerate(self.picture.tile):
            place = place * count + self.fixed.get(dim, at.get(dim, 0))
        return _runs(self.picture.blocks[place])


def _runs(devices: Iterable[int], most: int = 4) -> str:
    """Ids, neighbours as a range: `0-3,8`."""
    runs: list[list[int]] = []
    for device in devices:
        if runs and runs[-1][-1] + 1 == device:
            runs[-1].append(device)
        else:
            runs.append([device])
    words = [str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs]
    return ",".join(words if len(words) <= most else [*words[: most - 2], "…", words[-1]])


def _table(rows: list[str], columns: list[str], cells: list[list[str]]) -> list[str]:
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
