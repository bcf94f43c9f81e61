"""Meshes, shardings and their texts, against what JAX, XLA and MLIR make of the same."""

from __future__ import annotations

import base64
import itertools
import math
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from jax_layouts import Oracle, oracle

from hlopass.gspmd import MOST_DEVICES
from hlopass.layout import (
    DimSharding,
    Mesh,
    TensorSharding,
    element_bits,
    parse_gspmd,
    parse_sdy,
)

MESH = Mesh((("data", 4), ("model", 2)))


@pytest.fixture(scope="module")
def jax_says() -> Iterator[Oracle]:
    """A child with jax; skipped where this jax names its private parts otherwise."""
    with oracle() as found:
        try:
            found.named([["a", 2]], [["a"]], [1, 0])
            found.hlo("{replicated}")
        except RuntimeError as error:
            pytest.skip(f"this jax cannot be asked: {error}")
        yield found


def sharding(*dims: Any, mesh: Mesh = MESH) -> TensorSharding:
    """A sharding: an axis, several, None, or "?" for each dimension."""
    written = [[dim] if isinstance(dim, str) else list(dim or ()) for dim in dims]
    return TensorSharding(
        mesh,
        tuple(
            DimSharding(tuple(axis for axis in dim if axis != "?"), "?" in dim) for dim in written
        ),
    )


@st.composite
def meshes(draw: st.DrawFn, most: int = 24, reordered: bool = False) -> Mesh:
    """Meshes of up to four axes."""
    sizes = draw(st.lists(st.integers(1, 4), min_size=1, max_size=4))
    while math.prod(sizes) > most:
        sizes.pop()
    axes = tuple(zip("abcd", sizes, strict=False))
    if not reordered:
        return Mesh(axes)
    return Mesh(axes, tuple(draw(st.permutations(range(math.prod(sizes))))))


@st.composite
def shardings(draw: st.DrawFn, of: st.SearchStrategy[Mesh] | None = None) -> TensorSharding:
    """Shardings of up to four dimensions, over some of the axes in any order."""
    mesh = draw(of if of is not None else meshes())
    rank = draw(st.integers(0, 4))
    axes = draw(st.permutations([name for name, _ in mesh.axes]))
    places = [draw(st.integers(0, 2 * rank)) for _ in axes]
    dims = (
        DimSharding(tuple(axis for axis, at in zip(axes, places, strict=True) if at == dim))
        for dim in range(rank)
    )
    return TensorSharding(mesh, tuple(dims))


def asked(found: TensorSharding) -> tuple[list[Any], list[Any]]:
    """A sharding as the oracle takes it."""
    dims = [list(dim.axes) for dim in found.dims]
    return [list(axis) for axis in found.mesh.axes], dims


FAST = settings(
    max_examples=50,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


# Against JAX.


@FAST
@given(found=shardings(), factor=st.lists(st.integers(1, 3), min_size=4, max_size=4))
def test_jax_says_the_same(jax_says: Oracle, found: TensorSharding, factor: list[int]) -> None:
    shape = [count * by for count, by in zip(found.counts, factor, strict=False)]
    jax = jax_says.named(*asked(found), shape=shape)
    drops_axes_of_one = tuple(jax["version"]) >= (0, 10, 2) or min(found.mesh.sizes.values()) > 1
    if drops_axes_of_one:
        assert found.to_gspmd() == jax["hlo"]
    assert list(found.shard_shape(shape)) == jax["shard_shape"]
    indices = found.device_indices(shape)
    assert [[[part.start, part.stop] for part in parts] for parts in indices] == jax["indices"]
    rank = len(found.dims)
    for text in (jax["hlo"], base64.b64decode(jax["proto"])):
        assert parse_gspmd(text, rank).same_as(found.tiles()), text


@FAST
@given(found=shardings(meshes(reordered=True)))
def test_jax_says_the_same_of_devices_in_another_order(
    jax_says: Oracle, found: TensorSharding
) -> None:
    jax = jax_says.named(*asked(found), ids=found.mesh.ids)
    read = parse_sdy(jax["sdy"])
    assert read is not None
    again = TensorSharding.from_sdy(read)
    assert again is not None and again.same_layout(found)
    assert parse_gspmd(found.to_gspmd(), len(found.dims)).same_as(found.tiles())
    assert Mesh.from_sdy(found.mesh.to_sdy()) in (found.mesh, Mesh(found.mesh.axes))
    assert jax_says.sdy(found.mesh.to_sdy()) == found.mesh.to_sdy()


@FAST
@given(found=shardings(meshes(reordered=True)))
def test_xla_reads_listed_devices_alike(jax_says: Oracle, found: TensorSharding) -> None:
    text = found.to_gspmd()
    xla = jax_says.hlo(text)
    assert xla is not None and xla["replicated"] == found.is_replicated
    if xla["tile"] is not None:
        assert tuple(xla["tile"][: len(found.dims)]) == found.counts
        assert xla["devices"] == list(itertools.chain(*found.tiles().blocks))


@FAST
@given(found=shardings(), shape=st.lists(st.integers(0, 48), min_size=4, max_size=4))
def test_shardy_splits_what_axes_do_not_divide_into_fewer_blocks(
    jax_says: Oracle, found: TensorSharding, shape: list[int]
) -> None:
    shape = shape[: len(found.dims)]
    shardy = parse_sdy(jax_says.even(found.mesh.to_sdy(), found.to_sdy("mesh"), shape))
    assert shardy is not None
    even = found.even(shape)
    made = TensorSharding.from_sdy(shardy, found.mesh)
    assert made is not None and made.same_layout(even)
    assert all(size % count == 0 for size, count in zip(shape, even.counts, strict=True))


def test_shardy_cuts_an_axis() -> None:
    assert sharding("data").even([6]).counts == (2,)
    assert sharding("data").even([6]).tiles().blocks == ((0, 1, 2, 3), (4, 5, 6, 7))
    assert sharding(("data", "model")).even([12]).counts == (4,)
    assert sharding("data").even([7]).is_replicated
    assert sharding("data", "model").even([8, 2]) == sharding("data", "model")


def test_a_large_mesh_costs_nothing_to_write(jax_says: Oracle) -> None:
    mesh = Mesh((("pod", 16), ("data", 64), ("model", 32)))
    found = sharding(("model", "pod"), None, mesh=mesh)
    jax = jax_says.named(*asked(found), shape=[4096, 8])
    text = "{devices=[512,1,64]<=[1024,32]T(1,0) last_tile_dim_replicate}"
    assert found.to_gspmd() == jax["hlo"] == text
    assert list(found.shard_shape([4096, 8])) == jax["shard_shape"]


# Shardy's text.


@st.composite
def open_shardings(draw: st.DrawFn) -> TensorSharding:
    """Shardings with some dimensions open."""
    found = draw(shardings())
    dims = (DimSharding(dim.axes, draw(st.booleans())) for dim in found.dims)
    return TensorSharding(found.mesh, tuple(dims))


@FAST
@given(found=open_shardings())
def test_mlir_prints_what_is_written(jax_says: Oracle, found: TensorSharding) -> None:
    text = found.to_sdy("mesh")
    assert jax_says.sdy(text) == text
    read = parse_sdy(text)
    assert read is not None and read.mesh_name == "mesh"
    assert TensorSharding.from_sdy(read, found.mesh) == found


@given(name=st.text(max_size=6), axis=st.text(min_size=1, max_size=6))
@FAST
def test_names_are_escaped_as_mlir_does(jax_says: Oracle, name: str, axis: str) -> None:
    assume(name and "\x00" not in name + axis)
    assume(all(not 0xD800 <= ord(letter) < 0xE000 for letter in name + axis))
    mesh = Mesh(((axis, 2),))
    text = sharding((axis,), "?", mesh=mesh).to_sdy(name)
    assert jax_says.sdy(text) == text
    read = parse_sdy(text)
    assert read is not None and read.mesh_name == name
    assert TensorSharding.from_sdy(read, mesh) == sharding((axis,), "?", mesh=mesh)
    assert Mesh.from_sdy(mesh.to_sdy()) == mesh


def test_the_text_of_a_sharding() -> None:
    found = sharding("data", ("model", "?"), None, "?")
    assert found.to_sdy("mesh") == '#sdy.sharding<@mesh, [{"data"}, {"model", ?}, {}, {?}]>'
    assert found.open_dims == (1, 3)
    assert MESH.to_sdy() == '#sdy.mesh<["data"=4, "model"=2]>'
    assert sharding().to_sdy("a mesh") == '#sdy.sharding<@"a mesh", []>'


@pytest.mark.parametrize(
    "text",
    [
        '#sdy.sharding<@mesh, [{"a"}p0, {"b", ?}p1, {?}p12]>',
        '#sdy.sharding<@mesh, [{}, {}], replicated={"a", "b":(2)2}>',
        '#sdy.sharding<@mesh, [{}], replicated={"a"}, unreduced={"b"}>',
        '#sdy.sharding<mesh<["a"=4, "b"=4], device_ids=[0, 2, 1, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12,'
        ' 13, 14, 15]>, [{"a":(1)2, "b", "a":(2)2}, {}]>',
        "#sdy.sharding<mesh<[]>, []>",
        '#sdy.sharding<@mesh, [{"a?", ?}, {"}"}, {"a\\22b\\\\"}]>',
    ],
)
def test_all_that_mlir_prints_is_read(jax_says: Oracle, text: str) -> None:
    assert jax_says.sdy(text) == text
    read = parse_sdy(text)
    assert read is not None
    assert parse_sdy(text.removeprefix("#sdy.sharding")) == read


def test_the_parts_of_a_sharding_are_told_apart() -> None:
    read = parse_sdy('<@m, [{"a", "b":(2)4, ?}p3, {}], replicated={"c"}, unreduced={"d", "e"}>')
    assert read is not None and read.mesh_name == "m" and read.mesh_axes is None
    first, second = read.dims
    assert first.axes == (("a", None, None), ("b", 2, 4)) and first.open and first.priority == 3
    assert second.axes == () and not second.open and second.priority is None
    assert [ref.name for ref in read.replicated] == ["c"]
    assert [ref.name for ref in read.unreduced] == ["d", "e"]
    newer = parse_sdy('#sdy.sharding<@m, [{}], unreduced=max{"d"}>')
    assert newer is not None and [ref.name for ref in newer.unreduced] == ["d"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{replicated}",
        "#sdy.sharding<@mesh>",
        '#sdy.sharding<@mesh, [{"a"}]',
        "#sdy.sharding<@mesh, [{a}]>",
        '#sdy.sharding<@mesh, [{"a" ?}]>',
        "#sdy.sharding<@mesh, [{, ?}]>",
        '#sdy.sharding<@mesh, [{"a"}{"b"}]>',
        '#sdy.sharding<mesh<["a"=2>, [{"a"}]>',
        '#sdy.sharding_per_value<[<@mesh, [{"a"}]>]>',
    ],
)
def test_another_text_is_no_sharding(text: str) -> None:
    assert parse_sdy(text) is None
    assert Mesh.from_sdy(text) is None


def test_parts_of_an_axis_are_axes_of_a_finer_mesh() -> None:
    mesh = Mesh((("x", 16), ("y", 2)))
    read = parse_sdy('<@mesh, [{"y", "x":(4)4}, {"x":(1)2}]>')
    assert read is not None
    found = TensorSharding.from_sdy(read, mesh)
    assert found is not None and found.counts == (8, 2)
    finer = Mesh((("x1", 2), ("x2", 2), ("x3", 4), ("y", 2)))
    assert found.same_layout(sharding(("y", "x3"), "x1", mesh=finer))
    assert not found.same_layout(sharding(("y", "x3"), "x2", mesh=finer))


@pytest.mark.parametrize(
    "dims",
    ['{"z"}', '{"x"}, {"x"}', '{"x":(3)2}', '{"x":(2)16}', '{"x":(1)4}, {"x":(2)4}', '{"x":(0)2}'],
)
def test_axes_that_a_mesh_cannot_have(dims: str) -> None:
    read = parse_sdy(f"<@mesh, [{dims}]>")
    assert read is not None
    assert TensorSharding.from_sdy(read, Mesh((("x", 16), ("y", 2)))) is None
    assert TensorSharding.from_sdy(read) is None


@pytest.mark.parametrize(
    ("text", "mesh"),
    [
        ('<["a"=2, "b"=4]>', Mesh((("a", 2), ("b", 4)))),
        ('#sdy.mesh<["a"=2], device_ids=[1, 0]>', Mesh((("a", 2),), (1, 0))),
        ("<[], device_ids=[3]>", Mesh((), (3,))),
        ("#sdy.mesh<[]>", Mesh(())),
    ],
)
def test_meshes_that_mlir_prints(text: str, mesh: Mesh) -> None:
    assert Mesh.from_sdy(text) == mesh
    assert mesh.to_sdy().removeprefix("#sdy.mesh") == text.removeprefix("#sdy.mesh")


def test_a_maximal_mesh_is_one_device() -> None:
    one = sharding(mesh=Mesh((), (3,)))
    assert one.to_gspmd() == "{maximal device=3}"
    assert parse_gspmd("{maximal device=3}", 0).same_as(one.tiles())
    assert not parse_gspmd("{maximal device=2}", 0).same_as(one.tiles())
    assert one.same_layout(sharding(mesh=Mesh((), (3,))))
    assert not one.same_layout(sharding(mesh=Mesh((), (2,))))
    assert not one.same_layout(sharding(mesh=Mesh((("a", 1),))))
    assert str(Mesh(())) == "one device"


@pytest.mark.parametrize(
    ("axes", "ids"),
    [
        ((("a", 2), ("a", 2)), None),
        ((("a", 0),), None),
        ((("a", 2),), (1, 1)),
        ((("a", 2),), (1, 2)),
        ((("a", 2),), (0,)),
        ((), (0, 1)),
        ((), (-1,)),
    ],
)
def test_meshes_that_shardy_rejects(axes: Any, ids: Any) -> None:
    with pytest.raises(ValueError, match=r"axis|device ids"):
        Mesh(axes, ids)


def test_shardings_that_shardy_rejects() -> None:
    for dims in (("data", "data"), (("data", "data"),), ("batch",)):
        with pytest.raises(ValueError, match="are not distinct axes"):
            sharding(*dims)
    with pytest.raises(ValueError, match="2 dimensions for a sharding of 1"):
        sharding("data").shard_shape((4, 4))


# GSPMD's text.

READ = [
    "{replicated}",
    " { replicated } ",
    "{replicated shard_as 3}",
    "{maximal device=5}",
    "{manual}",
    "{unknown}",
    "{unreduced}",
    "{devices=[2,1]<=[2]}",
    "{devices=[2, 1]<=[2]}",
    "{devices=[2,1]1,0}",
    "{devices=[2,1]<=[2] shard_like 4}",
    '{devices=[2,1]<=[2] metadata={op_name="a}b"}}',
    '{devices=[2,1]<=[2] metadata={{op_name="x"}, {op_name="y"}}}',
    "{devices=[2,1]<=[2,1]T(0,1)}",
    "{devices=[1,1]<=[1]}",
    "{devices=[1,1,4]<=[4] last_tile_dim_replicate}",
    "{devices=[2,1,2]<=[2,2]T(1,0) last_tile_dim_replicate}",
    "{devices=[2,1,2,2]<=[8] last_tile_dims={manual, replicated}}",
    "{devices=[1,1,4]<=[4] last_tile_dims={manual}}",
    "{devices=[2,1,2,2]<=[2,2,2]T(1,2,0) last_tile_dims={replicated, replicated}}",
    "{devices=[2,1,2]<=[2,2]T(1,0) last_tile_dims={unreduced}}",
]
"""Texts for a tensor of two dimensions."""


@pytest.mark.parametrize("text", READ)
def test_what_xla_reads_is_read(jax_says: Oracle, text: str) -> None:
    found = parse_gspmd(text, 2)
    assert found.valid, found.problem
    xla = jax_says.hlo(text)
    assert xla is not None
    if text != "{devices=[1,1]<=[1]}":
        assert found.is_replicated == xla["replicated"]
    if not found.is_replicated and found.kind == "tiled":
        again = parse_gspmd(xla["text"], 2)
        assert again.same_as(found)


UNREADABLE = [
    "garbage",
    "{",
    "}",
    "{replicated",
    "{replicated} x",
    "{replicated,}",
    "{Replicated}",
    "{replicatedx}",
    "{ devices = [2,1] <= [2] }",
    "{devices=[2,1]}",
    "{devices=[2,1] <=2}",
    "{devices=[2]0 1}",
    "{devices=[2,1]<=[2],last_tile_dim_replicate}",
    "{devices=[]<=[2]}",
    "{devices=[-1,1]0}",
    "{device=0}",
    "{maximal}",
    "{devices=[2,1]<=[2,1]}",
    "{devices=[1,1]0}",
    "{maximal device=0 replicated}",
    "{mesh[a=2], [{a}]}",
    "P('x', None)",
]
DEADLY = [
    "{devices=[2,3]<=[4]}",
    "{devices=[2,1]0,1,2}",
    "{devices=[2,1]1,1}",
    "{devices=[2,2]<=[2,2]T(0,0)}",
    "{devices=[2,2]<=[2,2]T(0,2)}",
    "{devices=[2,1]<=[2] device=0}",
    "{devices=[2,1]<=[2] devices=[2,1]<=[2]}",
    "{devices=[0,1]<=[0]}",
    "{devices=[2,1,2]<=[4] last_tile_dims={replicated} last_tile_dim_replicate}",
    "{devices=[2,1,2]<=[4] last_tile_dims={sharded}}",
    f"{{devices=[{MOST_DEVICES},2]<=[{2 * MOST_DEVICES}]}}",
    f"{{devices=[{'9' * 5000},1]<=[1]}}",
    "{}",
    "{{replicated}}",
    "{{replicated},{manual}}",
    "{maximal_mesh[device_id=3]}",
]
"""What XLA reads past the end of, aborts on, or takes for a tensor that it cannot be of."""


@pytest.mark.parametrize("text", UNREADABLE)
def test_what_xla_drops_is_not_valid(jax_says: Oracle, text: str) -> None:
    found = parse_gspmd(text, 2)
    assert not found.valid and found.problem
    assert jax_says.hlo(text) is None
    assert not found.same_as(found)


@pytest.mark.parametrize("text", DEADLY)
def test_what_xla_dies_of_is_not_valid(text: str) -> None:
    assert parse_gspmd(text, 2).problem


def test_a_sharding_of_another_rank_is_not_valid() -> None:
    found = parse_gspmd("{devices=[2,1]<=[2]}", 3)
    assert found.kind == "tiled" and found.problem == "it has 2 dimensions, the tensor 3"
    assert not parse_gspmd("{devices=[2,1,2]<=[4] last_tile_dim_replicate}", 3).valid
    assert parse_gspmd("{replicated}", 3).valid


def test_what_else_may_stand_in_the_attribute() -> None:
    assert parse_gspmd("", 2).is_replicated
    assert parse_gspmd(b"\x08\x04", 2).kind == "manual"
    assert parse_gspmd(b"\x08\x03\x1a\x02\x01\x02\x22\x02\x00\x01", 2).tile == (1, 2)
    assert parse_gspmd(b"\x08\x01\x1a\x01\x01\x22\x01\x05", 0).blocks == ((5,),)
    assert parse_gspmd(b"\x08\x02\x2a\x08\x08\x01\x1a\x01\x01\x22\x01\x00", 0).kind == "tuple"
    for broken in (b"\x08", b"\x08\x63", b"\x80" * 40, b"\x1a\x05\x01", b"\xff\xfe", b"\x00\x00"):
        assert not parse_gspmd(broken, 0).valid, broken


TILES = st.lists(st.integers(1, 4), min_size=1, max_size=4)


@st.composite
def tiled_texts(draw: st.DrawFn) -> tuple[str, int]:
    """Texts of tiled shardings that are mostly right, and a rank."""
    tile = draw(TILES)
    copies = draw(st.sampled_from(["", "", " last_tile_dim_replicate", " last_tile_dims={manual}"]))
    count = math.prod(tile)
    sizes = draw(st.one_of(st.just([count]), st.permutations(tile), TILES))
    order = draw(st.permutations(range(len(sizes))))
    shown = ",".join(map(str, sizes))
    turned = "" if len(sizes) == 1 else f"T({','.join(map(str, order))})"
    listed = ",".join(map(str, draw(st.permutations(range(count)))))
    devices = draw(st.sampled_from([f"<=[{shown}]{turned}", listed]))
    text = f"{{devices=[{','.join(map(str, tile))}]{devices}{copies}}}"
    return text, len(tile) - bool(copies) + draw(st.sampled_from([0, 0, 0, 1]))


@FAST
@given(case=tiled_texts())
def test_what_is_valid_is_what_xla_reads(jax_says: Oracle, case: tuple[str, int]) -> None:
    text, rank = case
    found = parse_gspmd(text, rank)
    assume(found.valid)
    xla = jax_says.hlo(text)
    assert xla is not None
    if xla["tile"] is None:
        assert (found.kind == "manual") if "manual" in xla["text"] else found.is_replicated
    else:
        assert tuple(xla["tile"][:rank]) == found.tile
        copies = math.prod(found.tile) and len(xla["devices"]) // math.prod(found.tile)
        groups = (xla["devices"][at : at + copies] for at in range(0, len(xla["devices"]), copies))
        assert [sorted(group) for group in groups] == [sorted(block) for block in found.blocks]


@given(st.one_of(st.text(), st.binary(), st.text(alphabet='{}[]()<=T,0123devicslatrp_"m \\')))
def test_any_text_is_read(text: str | bytes) -> None:
    assert parse_gspmd(text, 2).valid in (True, False)
    if isinstance(text, str):
        assert parse_sdy(text) is None


# Geometry.


@given(shardings(), shardings(), st.booleans())
@settings(max_examples=150, deadline=None)
def test_the_same_layout_is_the_same_parts_on_the_same_devices(
    one: TensorSharding, two: TensorSharding, related: bool
) -> None:
    if related:
        two = _split_axes(one)
    assume(len(one.dims) == len(two.dims))
    shape = [a * b * 3 for a, b in zip(one.counts, two.counts, strict=True)]
    same = one.device_indices(shape) == two.device_indices(shape)
    assert one.same_layout(two) == two.same_layout(one) == same
    assert same or not related


def _split_axes(found: TensorSharding) -> TensorSharding:
    """The same placement over a mesh in which axes of four are two axes of two."""
    parts = {
        name: ((f"{name}1", 2), (f"{name}2", 2)) if size == 4 else ((name, size),)
        for name, size in found.mesh.axes
    }
    dims = (
        DimSharding(tuple(part for axis in dim.axes for part, _ in parts[axis]), True)
        for dim in found.dims
    )
    mesh = Mesh(tuple(part for name, _ in found.mesh.axes for part in parts[name]))
    return TensorSharding(mesh, tuple(dims))


@given(shardings(), st.lists(st.integers(0, 9), min_size=4, max_size=4))
def test_the_parts_cover_a_tensor_that_axes_do_not_divide(
    found: TensorSharding, sizes: list[int]
) -> None:
    shape = sizes[: len(found.dims)]
    held = found.device_indices(shape)
    assert len(held) == found.mesh.size
    copies = found.mesh.size // math.prod(found.counts)
    elements = [
        index
        for parts in held
        for index in itertools.product(*(range(part.start, part.stop) for part in parts))
    ]
    whole = itertools.product(*map(range, shape))
    assert sorted(elements) == sorted(list(whole) * copies)
    most = found.shard_shape(shape)
    assert all(
        part.stop - part.start <= size
        for parts in held
        for part, size in zip(parts, most, strict=True)
    )


@pytest.mark.parametrize(
    ("shape", "bits", "size"),
    [
        ((8, 6), 32, 2 * 3 * 4),
        ((6, 6), 32, 2 * 3 * 4),
        ((4, 6), 4, 2),
        ((4, 2), 2, 1),
        ((0, 6), 32, 0),
        ((8, 6), 128, 2 * 3 * 16),
    ],
)
def test_the_bytes_of_a_shard_are_packed_and_rounded_up(
    shape: tuple[int, ...], bits: int, size: int
) -> None:
    found = sharding("data", "model")
    assert found.shard_bytes(shape, bits) == size
    whole = (math.prod(shape) * bits + 7) // 8
    assert found.shard_bytes(shape, element_bits(shape, whole)) == size


def test_replicated_is_what_no_axis_splits() -> None:
    assert sharding(None, None).is_replicated and sharding("?").is_replicated
    assert sharding("a", mesh=Mesh((("a", 1), ("b", 8)))).is_replicated
    assert not sharding("model").is_replicated
    assert sharding().shard_shape(()) == () and sharding().device_indices(()) == [()] * 8


@pytest.mark.parametrize(
    ("text", "tile", "same"),
    [
        ("{mesh['a'=4,'b'=2], [{'a'}, {'b'}]}", (4, 2), "{devices=[4,2]<=[8]}"),
        ("{mesh['a'=4,'b'=2], [{'b'}, {'a',?}]}", (2, 4), "{devices=[2,4]<=[4,2]T(1,0)}"),
        (
            "{mesh['a'=4,'b'=2], [{'a':(1)2}, {}], replicated={'b'}}",
            (2, 1),
            "{devices=[2,1,4]<=[8] last_tile_dim_replicate}",
        ),
        ("{mesh['a'=4,'b'=2], replicated}", (), "{replicated}"),
    ],
)
def test_a_sharding_that_names_its_axes(text: str, tile: tuple[int, ...], same: str) -> None:
    found = parse_gspmd(text, 2)
    assert (found.problem, found.tile) == (None, tile)
    assert found.same_as(parse_gspmd(same, 2))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{mesh['a'=4], [{'c'}, {}]}", "over axes of its mesh"),
        ("{mesh['a'=4], [{'a'}]}", "it has 1 dimensions, the tensor 2"),
        ("{mesh['a'=4,'b'=2], device_ids=([4,2]T(1,0)), [{'a'}, {}]}", "order of devices"),
    ],
)
def test_one_that_names_its_axes_wrongly(text: str, words: str) -> None:
    assert words in (parse_gspmd(text, 2).problem or "")


def test_parts_of_a_sum_are_not_copies() -> None:
    found = parse_gspmd("{mesh['a'=4,'b'=2], [{'a'}, {}], unreduced={'b'}}", 2)
    whole = parse_gspmd("{mesh['a'=4,'b'=2], [{'a'}, {}]}", 2)
    assert found.valid and found.tile == whole.tile and not found.same_as(whole)
