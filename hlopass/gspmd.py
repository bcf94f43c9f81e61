"""The text of `mhlo.sharding`, GSPMD's sharding attribute: written and read. Pure text.

The grammar is that of XLA's `HloParserImpl::ParseSharding` (xla/hlo/parser/hlo_parser.cc);
older programs hold a serialized `OpSharding` (xla/xla_data.proto) in its place, and XLA tries
that first. What the compiler would read past the end of, or abort on, is a problem here.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

Kind = Literal[
    "replicated", "maximal", "tuple", "tiled", "manual", "unknown", "unreduced", "unparsable"
]
"""In the order of `OpSharding.Type`, whose word for `tiled` is OTHER; `unparsable` is ours."""

MOST_DEVICES = 1 << 20
"""More devices than any machine has: a text that names more is not read."""

_KINDS: tuple[str, ...] = get_args(Kind)


@dataclass(frozen=True)
class ParsedTiles:
    """Where a sharding puts the blocks of a tensor.

    `tile` is the number of blocks along each dimension of the tensor, `blocks` the ids of the
    devices that hold each block, blocks in row-major order. `subgroups` is not empty where
    devices of one block do not all hold the same (`manual=2`, `unreduced=4`). `problem` says why
    XLA cannot take it.
    """

    kind: Kind
    tile: tuple[int, ...] = ()
    blocks: tuple[tuple[int, ...], ...] = ()
    subgroups: tuple[str, ...] = ()
    problem: str | None = None

    @property
    def valid(self) -> bool:
        """Whether XLA takes it for a tensor of that rank."""
        return self.problem is None

    @property
    def is_replicated(self) -> bool:
        """Whether every device holds the whole tensor."""
        whole = self.kind == "tiled" and math.prod(self.tile) == 1 and not self.subgroups
        return self.valid and (whole or self.kind == "replicated")

    def same_as(self, other: ParsedTiles) -> bool:
        """Whether both are valid and put equal blocks on equal devices."""
        if not (self.valid and other.valid):
            return False
        return (self.is_replicated and other.is_replicated) or self == other


def parse_gspmd(text: str | bytes, rank: int) -> ParsedTiles:
    """Reads an `mhlo.sharding` of a tensor of `rank` dimensions.

    Give the attribute's bytes where it may be a serialized proto. An empty one is replicated,
    as it is an empty proto. Never raises: what XLA would drop or abort on has a `problem`.
    """
    data = text.encode(errors="surrogateescape") if isinstance(text, str) else text
    if not data.lstrip().startswith(b"{"):
        read = _text_of_proto(data)
        if read is None:
            return _bad("it is neither a sharding in braces nor a serialized OpSharding")
        data = read.encode()
    shown = _METADATA.sub("", data.decode(errors="replace")).strip()
    if re.match(r"\{\s*[{}]", shown):
        return _bad("it is the sharding of a tuple, not of a tensor", "tuple")
    body = shown[1:-1] if shown.endswith("}") else None
    items = None if body is None else _items(body)
    if items is None:
        return _bad(f"XLA cannot read {shown[:80]!r}")
    return _assemble(items, rank)


def is_tuple(data: bytes) -> bool:
    """Whether a text is the sharding of several values: `{{replicated}, {maximal device=0}}`."""
    return re.match(rb"\s*\{\s*[{}]", data) is not None


def elements(data: bytes) -> list[bytes] | None:
    """The shardings in that of several values; None for another text."""
    text = _METADATA.sub("", data.decode(errors="replace")).strip()
    found = re.fullmatch(r"\{\s*((?:\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}\s*,?\s*)*)\}", text)
    if found is None:
        return None
    return [each.encode() for each in re.findall(r"\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}", found[1])]


def write(tile: Sequence[int], sizes: Sequence[int], order: Sequence[int], partial: bool) -> str:
    """The text of a tiled sharding, as XLA prints it.

    `tile`: blocks per dimension, with the number of replicas last where `partial`. Devices are
    counted row-major over axes of `sizes`; `order` lists those axes from the major one of the
    first dimension to the minor one of the last.
    """
    replicas = " last_tile_dim_replicate" if partial else ""
    return f"{{devices=[{_joined(tile)}]{_iota(sizes, order)}{replicas}}}"


def write_listed(tile: Sequence[int], devices: Sequence[int], partial: bool) -> str:
    """As `write`, with the devices one by one, for an order that axes cannot tell."""
    replicas = " last_tile_dim_replicate" if partial else ""
    return f"{{devices=[{_joined(tile)}]{_joined(devices)}{replicas}}}"


def _joined(numbers: Sequence[int]) -> str:
    return ",".join(map(str, numbers))


def _iota(sizes: Sequence[int], order: Sequence[int]) -> str:
    """Axes of one device left out and neighbours merged (xla/hlo/ir/tile_assignment.cc)."""
    large = [axis for axis, size in enumerate(sizes) if size > 1]
    runs: list[list[int]] = []
    for axis in (large.index(axis) for axis in order if sizes[axis] > 1):
        if runs and runs[-1][-1] + 1 == axis:
            runs[-1].append(axis)
        else:
            runs.append([axis])
    merged = sorted(runs)
    shape = [math.prod(sizes[large[axis]] for axis in run) for run in merged] or [1]
    if len(shape) == 1:
        return f"<=[{shape[0]}]"
    return f"<=[{_joined(shape)}]T({_joined([merged.index(run) for run in runs])})"


def _bad(problem: str, kind: Kind = "unparsable") -> ParsedTiles:
    return ParsedTiles(kind, problem=problem)


_INT = r"\d{1,18}"
_INTS = rf"\s*{_INT}\s*(?:,\s*{_INT}\s*)*"
_METADATA = re.compile(
    r'metadata=\s*\{(?:[^{}"]|"(?:[^"\\]|\\.)*"|\{(?:[^{}"]|"(?:[^"\\]|\\.)*")*\})*\}'
)
_ITEM = re.compile(
    r"\s*(?:(?P<word>replicated|maximal|manual|unknown|unreduced|last_tile_dim_replicate)\b"
    rf"|device=\s*(?P<device>{_INT})"
    rf"|devices=\s*\[(?P<tile>{_INTS})\]\s*"
    rf"(?:<=\s*\[(?P<sizes>{_INTS})\]\s*(?:T\s*\((?P<order>{_INTS})\))?|(?P<listed>{_INTS}))"
    r"|last_tile_dims=\s*\{(?P<types>[\sa-z,]*)\}"
    rf"|(?:shard_as|shard_like)\s+{_INT})\s*"
)


def _items(body: str) -> dict[str, str] | None:
    """What stands between the braces; None where it is not a sharding's, or stands twice."""
    found: dict[str, str] = {}
    at = 0
    while at < len(body):
        match = _ITEM.match(body, at)
        if match is None:
            return None
        named = {key: value for key, value in match.groupdict().items() if value is not None}
        word = named.pop("word", None)
        if word is not None:
            found[word] = ""
        if found.keys() & named.keys():
            return None
        found.update(named)
        at = match.end()
    return found


def _assemble(items: dict[str, str], rank: int) -> ParsedTiles:
    placed = items.keys() & {"device", "tile"}
    if "maximal" in items and "replicated" not in items:
        if placed != {"device"}:
            return _bad("a maximal sharding names one device", "maximal")
        return ParsedTiles("maximal", (1,) * rank, ((int(items["device"]),),))
    for kind in ("replicated", "manual", "unknown", "unreduced"):
        if kind in items:
            problem = f"a {kind} sharding names no devices" if placed else None
            return ParsedTiles(kind, problem=problem)
    if placed != {"tile"}:
        return _bad("it names no tile, and is neither replicated nor maximal")
    return _tiled(items, rank)


def _tiled(items: dict[str, str], rank: int) -> ParsedTiles:
    tile = _ints(items["tile"])
    types = [word.strip() for word in items.get("types", "").split(",") if word.strip()]
    if "last_tile_dim_replicate" in items:
        if "types" in items:
            return _bad("last_tile_dims and last_tile_dim_replicate stand together", "tiled")
        types = ["replicated"]
    devices = _devices(items, tile)
    if isinstance(devices, str):
        return _bad(devices, "tiled")
    unknown = [word for word in types if word not in ("replicated", "manual", "unreduced")]
    if unknown:
        return _bad(f"last_tile_dims cannot be {unknown[0]!r}", "tiled")
    dims = len(tile) - len(types)
    if dims != rank:
        return _bad(f"it has {dims} dimensions, the tensor {rank}", "tiled")
    for kind in ("manual", "unreduced"):
        if set(types) == {kind} and math.prod(tile[:dims]) == 1:
            return ParsedTiles(kind)
    large = [(kind, size) for kind, size in zip(types, tile[dims:], strict=True) if size > 1]
    special = any(kind != "replicated" for kind, _ in large)
    copies = math.prod(tile[dims:])
    groups = (devices[at : at + copies] for at in range(0, len(devices), copies))
    blocks = tuple(tuple(group) if special else tuple(sorted(group)) for group in groups)
    subgroups = tuple(f"{kind}={size}" for kind, size in large) if special else ()
    return ParsedTiles("tiled", tuple(tile[:dims]), blocks, subgroups)


def _devices(items: dict[str, str], tile: list[int]) -> list[int] | str:
    """The devices in the tile's order, or what is wrong with them."""
    count = math.prod(tile)
    if not 0 < count <= MOST_DEVICES:
        return f"a tile of {count} devices"
    if "listed" in items:
        listed = _ints(items["listed"])
        if len(listed) != count or len(listed) < 2:
            return f"{len(listed)} devices for a tile of {count}"
        return listed if len(set(listed)) == count else "a device stands twice"
    sizes = _ints(items["sizes"])
    if math.prod(sizes) != count:
        return f"{math.prod(sizes)} devices for a tile of {count}"
    if "order" not in items and len(sizes) > 1:
        return "several axes of devices without their order"
    order = _ints(items.get("order", "0"))
    if sorted(order) != list(range(len(sizes))):
        return f"T({_joined(order)}) is no order of {len(sizes)} axes"
    return _counted(sizes, order)


def _counted(sizes: list[int], order: list[int]) -> list[int]:
    """The numbers of a row-major array of `sizes`, read with its axes in `order`."""
    strides = [math.prod(sizes[axis + 1 :]) for axis in range(len(sizes))]
    found = [0]
    for axis in order:
        found = [base + strides[axis] * step for base in found for step in range(sizes[axis])]
    return found


def _ints(text: str) -> list[int]:
    return [int(number) for number in text.split(",")]


def _text_of_proto(data: bytes) -> str | None:
    """The text of a serialized OpSharding; None where the bytes are none."""
    fields: dict[int, list[int]] = {}
    try:
        for number, value in _fields(data):
            fields.setdefault(number, []).extend(value)
    except (IndexError, ValueError):
        return None
    code = fields.get(1, [0])[-1]
    kind = _KINDS[code] if 0 <= code < len(_KINDS) - 1 else None
    if kind == "tuple":
        return "{}"
    if kind == "maximal":
        return f"{{maximal device={_joined(fields.get(4, [0]))}}}"
    if kind != "tiled":
        return None if kind is None else f"{{{kind}}}"
    types = [_KINDS[code] for code in fields.get(8, []) if code < len(_KINDS)]
    types = ["replicated"] if fields.get(6, [0])[-1] else types
    after = f" last_tile_dims={{{','.join(types)}}}" if types else ""
    devices = _joined(fields.get(4, []))
    if 9 in fields:
        devices = f"<=[{_joined(fields[9])}]T({_joined(fields.get(10, [0]))})"
        devices = devices.removesuffix("T(0)")
    return f"{{devices=[{_joined(fields.get(3, []))}]{devices}{after}}}"


def _fields(data: bytes) -> Iterator[tuple[int, list[int]]]:
    """The fields of a proto that holds numbers, packed or not, and messages as one 0 each."""
    at = 0
    while at < len(data):
        key, at = _varint(data, at)
        number, wire = key >> 3, key & 7
        if number == 0 or number > 20 or wire not in (0, 2):
            raise ValueError
        value, at = _varint(data, at)
        if wire == 0:
            yield number, [value]
            continue
        inside, at = data[at : at + value], at + value
        if at > len(data):
            raise ValueError
        if number in (3, 4, 8, 9, 10):
            packed, place = [], 0
            while place < len(inside):
                each, place = _varint(inside, place)
                packed.append(each)
            yield number, packed
        else:
            yield number, [0]


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while shift < 70:
        value |= (data[at] & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if data[at - 1] < 0x80:
            return value, at
    raise ValueError
