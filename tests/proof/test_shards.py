"""A tensor split for devices and put together again; results held against one device's."""

from __future__ import annotations

import math
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from hlopass.flow import Effect, Graph
from hlopass.gspmd import ParsedTiles, parse_gspmd
from hlopass.proof import shards, unsharded
from hlopass.proof.evidence import collectives
from hlopass.reductions import unreduced
from hlopass.report import Collective
from hlopass.values import Value


def split(array: Any, tiles: ParsedTiles, devices: int) -> list[Any]:
    """What each device holds of an array."""
    found = [np.empty(0)] * devices
    for block, holders in shards.blocks(array.shape, tiles, devices):
        for device in holders:
            found[device] = shards.padded(array[block], shards.held(array.shape, tiles))
    return found


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("{replicated}", (3, 4)),
        ("{replicated}", ()),
        ("{maximal device=3}", (3, 4)),
        ("{devices=[4,2]<=[8]}", (8, 4)),
        ("{devices=[2,1,4]<=[8] last_tile_dim_replicate}", (8, 4)),
        ("{devices=[2,1,4]<=[4,2]T(1,0) last_tile_dim_replicate}", (6, 5)),
        ("{devices=[4,2]7,6,5,4,3,2,1,0}", (8, 4)),
        ("{devices=[8]<=[8]}", (5,)),
        ("{devices=[4,2]<=[8]}", (5, 3)),
        ("{devices=[8]<=[8]}", (0,)),
    ],
)
def test_what_is_split_is_joined_again(text: str, shape: tuple[int, ...]) -> None:
    array = np.arange(math.prod(shape), dtype=np.int32).reshape(shape)
    tiles = parse_gspmd(text.encode(), len(shape))
    parts = split(array, tiles, 8)
    assert len(parts) == 8
    assert len({part.shape for part in parts}) == 1
    assert np.array_equal(shards.join(parts, tiles, shape), array)


def test_each_device_holds_its_block() -> None:
    tiles = parse_gspmd(b"{devices=[2,1,2]<=[2,2]T(1,0) last_tile_dim_replicate}", 2)
    parts = split(np.arange(6).reshape(3, 2), tiles, 4)
    first, last = [[0, 1], [2, 3]], [[4, 5], [0, 0]]
    assert [part.tolist() for part in parts] == [first, last, first, last]


VALUE = Value("result", 0, None, "tensor<4xf32>", (4,), 16)


def compared(before: Any, after: Any, alone: bool = False, **options: Any) -> tuple[Any, Any]:
    tolerance = options.get("tolerance")
    return unsharded.compare([VALUE], [before], [after], [alone], tolerance)


def test_equal_bits_agree_whatever_is_reduced() -> None:
    array = np.array([1, np.nan, np.inf, -0.0], np.float32)
    found, difference = compared(array, array.copy(), alone=True)
    assert (found.equal, found.exact, found.results, difference) == (True, 1, 1, None)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, ml_dtypes.bfloat16, np.complex64])
def test_a_reduced_result_may_differ_by_the_root_of_its_epsilon(dtype: Any) -> None:
    array = np.array([100, 1, 2, 3], dtype)
    root = math.sqrt(float(ml_dtypes.finfo(dtype).eps))
    near, far = array.copy(), array.copy()
    near[1] += dtype(root * 100 / 2)
    far[1] += dtype(root * 100 * 2)
    assert compared(array, near)[0].equal is True
    found, difference = compared(array, far)
    assert found.equal is False
    assert found.largest == pytest.approx(2 * root, rel=0.02)
    assert found.tolerance == pytest.approx(root)
    assert difference.position == (1,)
    assert compared(array, far, tolerance=3 * root)[0].equal is True
    assert compared(array, near, tolerance=0.0)[0].equal is False


def test_a_result_that_nothing_is_reduced_for_may_not_differ() -> None:
    array = np.ones(4, np.float32)
    other = np.nextafter(array, np.float32(2))
    found, difference = compared(array, other, alone=True)
    assert found.equal is False
    assert difference.position == (0,)


def test_one_nan_is_as_good_as_another() -> None:
    array = np.array([1, np.nan], np.float32)
    other = -array * np.array([-1, 1], np.float32)
    assert array.tobytes() != other.tobytes()
    found, difference = compared(array, other, alone=True)
    assert (found.equal, found.exact, difference) == (True, 0, None)


@pytest.mark.parametrize("dtype", [np.int32, np.uint8, bool, ml_dtypes.int4])
def test_integers_may_not_differ(dtype: Any) -> None:
    array = np.array([1, 0, 1, 1], dtype)
    other = np.array([1, 1, 1, 1], dtype)
    assert compared(array, other)[0].equal is False


@pytest.mark.parametrize("other", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_on_one_side_only_differs(other: float) -> None:
    array = np.array([1, 2, 3, 4], np.float32)
    changed = array.copy()
    changed[2] = other
    for before, after in ((array, changed), (changed, array)):
        found, difference = compared(before, after)
        assert found.equal is False
        assert difference.position == (2,)


def test_a_result_of_zeros_has_no_room() -> None:
    zeros = np.zeros(4, np.float32)
    assert compared(zeros, zeros + 1)[0].equal is False
    assert compared(zeros, -zeros)[0].equal is True


def test_what_a_reduction_reaches() -> None:
    graph = Graph(2)
    added = graph.add("add", Effect.ELEMENTWISE, (0, 1))
    summed = graph.add("reduce", Effect.COSTLY_INDEXED, (added,))
    spread = graph.add("broadcast_in_dim", Effect.BROADCAST, (summed,))
    graph.results = [added, summed, spread, 0, graph.add("sine", Effect.ELEMENTWISE, (added,))]
    assert unreduced(graph) == (True, False, False, True, True)


HLO = """
  %all-reduce.1 = f32[4,8]{1,0} all-reduce(%p), channel_id=1, to_apply=%add
  ROOT %ar = (f32[4]{0}, bf16[2]{0}) all-reduce(%a, %b), channel_id=2, to_apply=%add
  %g = f32[8]{0} all-gather(%p), dimensions={0}
  %s = (f32[2]{0}, f32[8]{0}) all-gather-start(%p), dimensions={0}
  %d = f32[8]{0} all-gather-done(%s)
  %c = s4[3]{0} collective-permute(%q), source_target_pairs={{0,1}}
  %name = f32[] add(%all-reduce.1, %g), metadata={op_name="all-to-all("}
"""


def test_collectives_are_counted_by_kind() -> None:
    assert collectives(HLO) == (
        Collective("all-gather", 2, 64),
        Collective("all-reduce", 2, 128 + 16 + 4),
        Collective("collective-permute", 1, 2),
    )
