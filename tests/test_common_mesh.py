"""Meshes found for tilings: they say exactly what the tilings did."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hlopass import common_mesh
from hlopass.gspmd import ParsedTiles, parse_gspmd
from hlopass.layout import DimSharding, Mesh, TensorSharding
from hlopass.sdy_text import AxisRef, ParsedDim, ParsedSdy


def tiles(text: str, rank: int = 2) -> ParsedTiles:
    found = parse_gspmd(text, rank)
    assert found.valid
    return found


def said(tiling: ParsedTiles, mesh: Mesh) -> ParsedTiles | None:
    """The tiling that the axes found for one mean."""
    dims = common_mesh.over(tiling, mesh)
    if dims is None:
        return None
    parsed = ParsedSdy("mesh", None, None, tuple(ParsedDim(axes, False) for axes in dims))
    sharding = TensorSharding.from_sdy(parsed, mesh)
    assert sharding is not None
    return sharding.tiles()


@st.composite
def cases(draw: st.DrawFn) -> tuple[Mesh, list[TensorSharding]]:
    """A mesh and shardings over it."""
    sizes = draw(st.lists(st.sampled_from([1, 2, 2, 3, 4]), min_size=1, max_size=4))
    axes = tuple(zip("abcd", sizes, strict=False))
    count = math.prod(sizes)
    ids = draw(st.none() | st.permutations(range(count)))
    mesh = Mesh(axes, None if ids is None else tuple(ids))
    found = []
    for _ in range(draw(st.integers(1, 3))):
        names = draw(st.permutations([name for name, _ in axes]))
        used = names[: draw(st.integers(0, len(names)))]
        at = draw(st.integers(0, len(used)))
        dims = (DimSharding(tuple(used[:at])), DimSharding(tuple(used[at:])))
        found.append(TensorSharding(mesh, dims))
    return mesh, found


@given(cases())
def test_a_mesh_that_shardings_come_from_says_them(case: Any) -> None:
    mesh, shardings = case
    tilings = [each.tiles() for each in shardings]
    assert common_mesh.find(tilings, mesh.size, [mesh]) == mesh
    assert all(said(each, mesh).same_as(each) for each in tilings)  # type: ignore[union-attr]


@given(cases())
def test_a_mesh_is_found_where_there_is_one(case: Any) -> None:
    mesh, shardings = case
    tilings = [parse_gspmd(each.to_gspmd(), 2) for each in shardings]
    split = [each for each in tilings if each.kind == "tiled"]
    found = common_mesh.find(split, mesh.size)
    if mesh.is_reordered and len(split) > 1 and found is None:
        return  # which order the devices are in, no one tiling may tell
    assert found is not None and found.size == mesh.size
    assert all(said(each, found).same_as(each) for each in split)  # type: ignore[union-attr]


@given(st.permutations(range(8)), st.permutations(range(8)))
def test_no_mesh_says_anything_else(first: list[int], second: list[int]) -> None:
    tilings = [
        ParsedTiles(
            "tiled", (2, 2), tuple(tuple(sorted(order[at : at + 2])) for at in (0, 2, 4, 6))
        )
        for order in (first, second)
    ]
    mesh = common_mesh.find(tilings, 8)
    if mesh is not None:
        assert all(said(each, mesh).same_as(each) for each in tilings)  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("texts", "axes"),
    [
        (["{devices=[4,1,2]<=[8] last_tile_dim_replicate}"], [4, 2]),
        (["{devices=[8,1]<=[8]}"], [8]),
        (["{devices=[2,4]<=[8]}", "{devices=[4,2]<=[8]}"], [2, 2, 2]),
        (["{devices=[8,1]<=[4,2]T(1,0)}"], [4, 2]),
        (["{devices=[2,2,2]<=[2,2,2]T(1,0,2) last_tile_dim_replicate}"], [2, 2, 2]),
        (["{devices=[2,3]<=[6]}", "{devices=[3,2]<=[2,3]T(1,0)}"], [2, 3]),
        (["{devices=[2,1,3]<=[6] last_tile_dim_replicate}", "{devices=[3,2]<=[6]}"], None),
        (["{devices=[1,1,8]<=[8] last_tile_dim_replicate}"], [8]),
        (["{replicated}"], [8]),
    ],
)
def test_as_few_axes_as_can_be(texts: list[str], axes: list[int] | None) -> None:
    tilings = [tiles(text) for text in texts]
    count = sum(map(len, tilings[0].blocks)) or 8
    mesh = common_mesh.find(tilings, count)
    assert axes == (None if mesh is None else [size for _, size in mesh.axes])
    assert mesh is None or mesh.device_ids is None


def test_parts_of_axes() -> None:
    mesh = Mesh((("x", 8),))
    text = "{devices=[4,2]<=[2,4]T(1,0)}"
    whole = (AxisRef("x", 2, 4),), (AxisRef("x", 1, 2),)
    assert common_mesh.over(tiles(text), mesh) == whole


def test_a_mesh_of_another_size_is_passed_over() -> None:
    known = [Mesh((("a", 4),)), Mesh((("b", 4), ("c", 2)))]
    assert common_mesh.find([tiles("{devices=[8,1]<=[8]}")], 8, known) == known[1]
    assert common_mesh.over(tiles("{devices=[8,1]<=[8]}"), known[0]) is None
