"""What is wrong with the shardings that a program carries, as XLA would take them. No MLIR."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from hlopass.diagnostics import Diagnostic, Where, quoted, together
from hlopass.sharded import Dialect, Sharded
from hlopass.values import Value

if TYPE_CHECKING:
    from hlopass.donation import Donation

ATTRIBUTES = {"shardy": "sdy.sharding", "gspmd": "mhlo.sharding"}

Carried = Sequence[tuple[Value, Sharded]]
"""The arguments and results that carry a sharding."""


def unreadable(carried: Carried) -> Iterator[Diagnostic]:
    """Attributes that the compiler refuses, ignores in silence, or dies of."""
    for value, sharding in carried:
        if sharding.problem is not None:
            text = sharding.text if len(sharding.text) < 100 else f"{sharding.text[:100]} ..."
            text = quoted(text) if sharding.dialect == "gspmd" else text
            message = f"{value} carries {ATTRIBUTES[sharding.dialect]} = {text}: {sharding.problem}"
            hint = f"legal: {LEGAL[sharding.dialect]}"
            yield Diagnostic("sharding-unreadable", message, value.where, help=hint)


LEGAL = {
    "gspmd": 'as in "{devices=[4,1,2]<=[8] last_tile_dim_replicate}" or "{replicated}"',
    "shardy": 'as in #sdy.sharding<@mesh, [{"axis"}, {}]>, with an entry for each dimension',
}


def uneven(carried: Carried) -> Sequence[Diagnostic]:
    """Dimensions that their axes do not divide: GSPMD pads them, Shardy splits them less."""
    found = []
    for value, sharding in carried:
        for dim in sharding.uneven:
            size = (value.shape or ())[dim]
            count = sharding.asked[dim] if dim < len(sharding.asked) else 0
            message = f"dimension {dim} of {value} has {size} elements, and its axes split it"
            message += f" over {count} devices, which does not divide it"
            notes = (f"it carries {sharding.text}", _BECOMES[sharding.dialect])
            hint = "allow_uneven: true in a spec accepts it"
            found.append(Diagnostic("shard-uneven", message, value.where, notes=notes, help=hint))
    return together(found, f"mesh axes do not divide {len(found)} dimensions that they split")


_BECOMES = {
    "gspmd": "GSPMD pads the last blocks, in silence",
    "shardy": "Shardy splits it over fewer devices, or leaves it whole, in silence",
}


def arguments_alone(
    carried: Carried, used: Mapping[Dialect, str], where: Where
) -> Iterator[Diagnostic]:
    """GSPMD's attributes on arguments and on no result, which Shardy drops."""
    split = [value for value, sharding in carried if not sharding.is_replicated]
    alone = all(value.role == "argument" for value, _ in carried)
    if dict(used) == {"gspmd": "func.func"} and split and alone:
        message = "only arguments carry mhlo.sharding: XLA drops it where Shardy partitions"
        note = (
            "Shardy is JAX's default partitioner, and every argument is then whole on each device"
        )
        hint = 'give a result one too, "{replicated}" will do, or convert-sharding{to=shardy}'
        yield Diagnostic("sharding-dropped", message, where, "warning", (note,), hint)


def devices(carried: Carried, partitions: int, where: Where) -> Iterator[Diagnostic]:
    """Shardings for different numbers of devices, or for another than the module says."""
    counts: dict[int, Value] = {}
    for value, sharding in carried:
        if sharding.devices is not None:
            counts.setdefault(sharding.devices, value)
    if len(counts) > 1:
        shown = ", ".join(f"{value} over {count}" for count, value in counts.items())
        message = f"shardings name different numbers of devices: {shown}"
        yield Diagnostic("sharding-devices", message, where)
    elif counts and partitions not in (1, *counts):
        ((count, value),) = counts.items()
        message = f"{value} is sharded over {count} devices"
        message += f", and mhlo.num_partitions is {partitions}"
        yield Diagnostic("sharding-devices", message, where)


def pairs(
    donations: Sequence[Donation], arguments: dict[int, Sharded], results: dict[int, Sharded]
) -> Iterator[Diagnostic]:
    """Aliases whose two sides may come to lie differently over the devices, or do."""
    found: dict[str, list[Diagnostic]] = {}
    for each in donations:
        if each.result is None:
            continue
        its = results.get(each.result.index)
        finding = _pair(each, each.result, arguments.get(each.argument.index), its)
        if finding is not None:
            found.setdefault(finding.code, []).append(finding)
    for code, several in found.items():
        yield from together(several, _OF_SEVERAL[code].format(len(several)))


_OF_SEVERAL = {
    "shard-open-pair": "{} donated pairs have open dimensions",
    "shard-result-open": "{} results that reuse arguments are left open",
    "shard-elsewhere": "{} donated pairs are split over other axes on their two sides",
}


def _pair(
    each: Donation, result: Value, mine: Sharded | None, its: Sharded | None
) -> Diagnostic | None:
    """What is to be said of an argument and the result that reuses it, if anything."""
    for value, sharding in ((each.argument, mine), (result, its)):
        if sharding is not None and sharding.open:
            return _open(each, value)
    if its is None and result.open:
        return _left_open(each)
    if mine is None or mine.tiles is None or mine.is_replicated:
        return None
    known = its is not None and its.tiles is not None
    if its is None or not known or each.argument.shape != result.shape or mine.same_as(its):
        return None
    return _elsewhere(each, mine, its)


def _open(each: Donation, value: Value) -> Diagnostic:
    message = f"{each.argument} is donated to {each.result}, and dimensions of {value} are open"
    note = "where propagation splits one of the two further, XLA refuses the program"
    hint = "close the dimensions of what is donated"
    return Diagnostic("shard-open-pair", message, value.where, "warning", (note,), hint)


def _left_open(each: Donation) -> Diagnostic:
    message = f"{each.result}, which reuses {each.argument}, is left open"
    notes = (
        f"the argument is {each.argument.described()}",
        "XLA refuses the program where propagation gives the result shards of another size, and "
        "leaves it whole where propagation to results is not allowed",
    )
    hint = f"give it the sharding of {each.argument}, as results that follow get"
    return Diagnostic("shard-result-open", message, each.argument.where, "warning", notes, hint)


def _elsewhere(each: Donation, mine: Sharded, its: Sharded) -> Diagnostic:
    message = f"{each.argument} and {each.result}, which reuses it, are split over other axes"
    size = each.argument.held
    if mine.tiles is not None and its.tiles is not None and mine.tiles.tile == its.tiles.tile:
        cost = f"a collective-permute of {size} bytes on each device"
    else:
        cost = f"an all-to-all or all-gather of {size} bytes or more on each device"
    notes = (
        f"the argument carries {mine.text}, the result {its.text}",
        f"where one is computed from the other element by element, that is {cost}",
    )
    return Diagnostic("shard-elsewhere", message, each.argument.where, "warning", notes)
