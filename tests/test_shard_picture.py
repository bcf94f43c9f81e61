"""Drawings of tensors over devices."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hlopass.layout import DimSharding, Mesh, TensorSharding, parse_gspmd
from hlopass.shard_picture import can_draw
from hlopass.shard_report import Picture

MESH = Mesh((("data", 4), ("model", 2)))
CUBE = Mesh((("a", 2), ("b", 3), ("c", 2)))
SPEC = Path(__file__).parent.parent / "testdata" / "inspect"


def picture(shape: tuple[int, ...], *dims: Any, mesh: Mesh = MESH) -> Picture:
    """A picture of argument 0; a dimension is an axis, several or None."""
    axes = [(dim,) if isinstance(dim, str) else tuple(dim or ()) for dim in dims]
    tiles = TensorSharding(mesh, tuple(map(DimSharding, axes))).tiles()
    return Picture("argument", 0, "w", shape, tiles.tile, tiles.blocks, str(mesh))


def drawn(text: str) -> str:
    """A drawing as a test holds it."""
    return "\n".join(line[4:] for line in text.strip("\n").split("\n")[:-1])


def test_two_dimensions_are_drawn_down_and_across() -> None:
    assert picture((6, 6), "data", None).text() == drawn("""
    argument 0 'w': 6x6 in 4x1 blocks of 2x6 over data=4, model=2
            0:6
          ┌─────┐
      0:2 │ 0-1 │
          ├─────┤
      2:4 │ 2-3 │
          ├─────┤
      4:6 │ 4-5 │
          ├─────┤
    empty │ 6-7 │
          └─────┘
    """)


def test_one_dimension_is_drawn_across() -> None:
    assert picture((6,), "model").text() == drawn("""
    argument 0 'w': 6 in 2 blocks of 3 over data=4, model=2
         0:3       3:6
     ┌─────────┬─────────┐
     │ 0,2,4,6 │ 1,3,5,7 │
     └─────────┴─────────┘
    """)


def test_ascii_draws_the_same() -> None:
    assert picture((6,), "model").text(ascii=True) == drawn("""
    argument 0 'w': 6 in 2 blocks of 3 over data=4, model=2
         0:3       3:6
     +---------+---------+
     | 0,2,4,6 | 1,3,5,7 |
     +---------+---------+
    """)


def test_of_many_dimensions_two_are_drawn_for_each_block_of_the_others() -> None:
    assert picture((2, 6, 5, 4), "c", "b", None, "a", mesh=CUBE).text() == drawn("""
    argument 0 'w': 2x6x5x4 in 2x3x1x2 blocks of 1x2x5x2 over a=2, b=3, c=2
    dimension 0 goes down, 1 across
    dimension 3 at 0:2
          0:2   2:4   4:6
        ┌─────┬─────┬─────┐
    0:1 │  0  │  2  │  4  │
        ├─────┼─────┼─────┤
    1:2 │  1  │  3  │  5  │
        └─────┴─────┴─────┘
    dimension 3 at 2:4
          0:2   2:4   4:6
        ┌─────┬─────┬─────┐
    0:1 │  6  │  8  │ 10  │
        ├─────┼─────┼─────┤
    1:2 │  7  │  9  │ 11  │
        └─────┴─────┴─────┘
    """)


def test_of_three_dimensions_only_what_is_split_is_drawn() -> None:
    text = picture((8, 4, 2), None, "data", None).text()
    assert "dimension 1 goes across" in text and text.count("┌") == 1


def test_whole_tensors_list_their_devices() -> None:
    assert "scalar, whole on each of 8 devices" in picture(()).text()
    assert "0-7" in picture((4, 4), None, None).text()
    tiles = parse_gspmd("{maximal device=3}", 1)
    one = Picture("result", 1, None, (4,), tiles.tile, tiles.blocks, "8 devices")
    assert one.text().startswith("result 1: 4, whole on device 3\n")


def test_gspmd_tilings_are_drawn() -> None:
    tiles = parse_gspmd("{devices=[2,2,2]0,7,1,6,2,5,3,4 last_tile_dim_replicate}", 2)
    text = Picture("result", 0, "y", (4, 4), tiles.tile, tiles.blocks, "8 devices").text()
    assert text == drawn("""
    result 0 'y': 4x4 in 2x2 blocks of 2x2 over 8 devices
          0:2   2:4
        ┌─────┬─────┐
    0:2 │ 0,7 │ 1,6 │
        ├─────┼─────┤
    2:4 │ 2,5 │ 3-4 │
        └─────┴─────┘
    """)


def test_large_meshes_are_drawn_small() -> None:
    mesh = Mesh((("a", 256), ("b", 16)))
    text = picture((512, 64, 3), "a", "b", None, mesh=mesh).text(80)
    assert "…" in text and len(text.split("\n")) < 40 and max(map(len, text.split("\n"))) <= 80
    assert "0,16,…,4080" in picture((2, 32), None, "b", mesh=mesh).text()
    wide = picture((512,), "a", mesh=mesh).text(200)
    assert wide.count("┬") > picture((512,), "a", mesh=mesh).text(60).count("┬")
    cube = Mesh((("a", 8), ("b", 8), ("c", 8)))
    text = picture((8, 8, 8), "a", "b", "c", mesh=cube).text()
    assert text.count("┌") == 4 and text.endswith("… and 4 more such grids")


@given(st.permutations(range(12)), st.sampled_from([(2, 3, 2), (3, 4, 1), (1, 12, 1), (12, 1, 1)]))
def test_every_device_is_drawn_once(order: list[int], sizes: tuple[int, ...]) -> None:
    mesh = Mesh(tuple(zip("abc", sizes, strict=True)), tuple(order))
    shape = tuple(10 * size for size in sizes)
    text = picture(shape, "a", "b", "c", mesh=mesh).text(200)
    cells = [cell for line in text.split("\n") if "│" in line for cell in line.split("│")[1:]]
    found = [int(cell) for cell in cells if cell.strip()]
    assert sorted(found) == list(range(12))


@pytest.mark.parametrize(
    ("encoding", "can"), [("utf-8", True), ("cp437", False), ("ascii", False), (None, False)]
)
def test_encodings_that_cannot_draw_are_known(encoding: str | None, can: bool) -> None:
    assert can_draw(encoding) == can


def test_the_command_line_falls_back_to_ascii() -> None:
    arguments = ["inspect", str(SPEC / "carried.mlir"), "--picture", "x"]
    outputs = {}
    for encoding in ("ascii", "utf-8"):
        done = subprocess.run(
            [sys.executable, "-m", "hlopass", *arguments],
            env={"PYTHONIOENCODING": encoding, "PYTHONPATH": ":".join(sys.path)},
            capture_output=True,
            check=True,
        )
        outputs[encoding] = done.stdout.decode(encoding)
    assert "| 0-1  |" in outputs["ascii"] and "│ 0-1  │" in outputs["utf-8"]
    assert re.search(r"┌─+┐", outputs["utf-8"])
