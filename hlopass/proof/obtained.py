"""How arguments and results were asked to be split over devices, and how they came out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hlopass import common_mesh
from hlopass.gspmd import ParsedTiles
from hlopass.layout import Mesh, parse_gspmd, parse_sdy
from hlopass.program import Program, meshes_of
from hlopass.proof.evidence import Compiled
from hlopass.report import ReportedSharding
from hlopass.sdy_text import AxisRef
from hlopass.sharded import Sharded
from hlopass.values import Value


@dataclass(frozen=True)
class Asked:
    """The shardings that a program carries, by index; its arguments, results and meshes."""

    arguments: tuple[Value, ...]
    results: tuple[Value, ...]
    of_arguments: Mapping[int, Sharded]
    of_results: Mapping[int, Sharded]
    meshes: Mapping[str, Mesh]


def asked(program: Program) -> Asked:
    """What a program asks, before anything of it is removed."""
    return Asked(
        program.arguments,
        program.results,
        program.argument_shardings,
        program.result_shardings,
        meshes_of(program.module),
    )


def tiles(values: Sequence[Value], texts: Sequence[str]) -> list[ParsedTiles]:
    """Where the blocks of compiled arguments or results lie; whole, where XLA says nothing."""
    if len(texts) != len(values):
        return [ParsedTiles("replicated")] * len(values)
    return [
        parse_gspmd(text.encode(), len(value.shape or ()))
        for value, text in zip(values, texts, strict=True)
    ]


def shardings(wanted: Asked, compiled: Compiled) -> tuple[ReportedSharding, ...]:
    """What was asked and obtained for each argument, then for each result."""
    found = []
    for values, carried, texts in (
        (wanted.arguments, wanted.of_arguments, compiled.arguments),
        (wanted.results, wanted.of_results, compiled.results),
    ):
        if len(texts) != len(values):
            continue
        for value, text, lies in zip(values, texts, tiles(values, texts), strict=True):
            found.append(_one(value, carried.get(value.index), text, lies, wanted.meshes))
    return tuple(found)


def _one(
    value: Value, asks: Sharded | None, text: str, lies: ParsedTiles, meshes: Mapping[str, Mesh]
) -> ReportedSharding:
    parsed = None if asks is None or asks.dialect == "gspmd" else parse_sdy(asks.text)
    named = None if parsed is None or parsed.mesh_name is None else meshes.get(parsed.mesh_name)
    mesh = named or next((each for each in meshes.values() if not each.is_maximal), None)
    dims = None if mesh is None or lies.kind == "maximal" else _over(lies, mesh, value)
    words = None if asks is None else asks.text
    if parsed is not None:
        words = _words([[*map(_word, dim.axes), *["?"] * dim.open] for dim in parsed.dims])
    return ReportedSharding(
        words,
        text if dims is None else _words([[*map(_word, dim)] for dim in dims]),
        argument=value.index if value.role == "argument" else None,
        result=value.index if value.role == "result" else None,
        name=value.name,
        as_asked=None if asks is None else _as_asked(asks, lies, dims),
        uneven=bool(asks and asks.uneven),
    )


def _over(lies: ParsedTiles, mesh: Mesh, value: Value) -> Sequence[Sequence[AxisRef]] | None:
    """The axes of each dimension; none for what is whole, None where the mesh does not say it."""
    if lies.is_replicated:
        return ((),) * len(value.shape or ())
    return common_mesh.over(lies, mesh)


def _as_asked(
    asks: Sharded, lies: ParsedTiles, dims: Sequence[Sequence[AxisRef]] | None
) -> bool | None:
    """Whether what was asked came out; an open dimension may be split further."""
    if asks.tiles is None:
        return None
    if not asks.open:
        return asks.tiles.tile == asks.asked and asks.tiles.same_as(lies)
    if dims is None or asks.sharding is None or len(dims) != len(asks.sharding.dims):
        return None
    parsed = parse_sdy(asks.text)
    assert parsed is not None
    pairs = zip(parsed.dims, dims, strict=True)
    return all(_begins(dim.axes, tuple(got), dim.open) for dim, got in pairs)


def _begins(asks: Sequence[AxisRef], got: Sequence[AxisRef], is_open: bool) -> bool:
    """Whether axes begin with those that were asked; and are those, unless it is open."""
    return tuple(got[: len(asks)]) == tuple(asks) and (is_open or len(got) == len(asks))


def _word(ref: AxisRef) -> str:
    return ref.name if ref.size is None else f"{ref.name}:({ref.pre}){ref.size}"


def _words(dims: Sequence[Sequence[str]]) -> str:
    """`[data, null]`, `[[data, model], ?]`; `replicated` where nothing is split or open."""
    if not any(dims):
        return "replicated"
    entries = []
    for dim in dims:
        entries.append(dim[0] if len(dim) == 1 else f"[{', '.join(dim)}]" if dim else "null")
    return f"[{', '.join(entries)}]"
