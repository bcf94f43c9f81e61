"""What a program's arguments and results are, and what could still be donated."""

from __future__ import annotations

import json
from collections.abc import Sequence

from hlopass import donation_attrs, names
from hlopass.dataflow import analyse
from hlopass.donation import Donation
from hlopass.pairing import FlowPairing
from hlopass.program import ARG_ATTRS, RESULT_ATTRS, SHARDINGS, Program, attribute_dicts
from hlopass.report import Inspected, Inspection, reported
from hlopass.reuse import Reuse
from hlopass.values import Value, same_size


def inspect(program: Program) -> Inspection:
    """Arguments and results with donation, sharding, and what stands in the way of more."""
    donations = {each.argument.index: each for each in donation_attrs.read(program)}
    reuse = analyse(program)
    offers = _offers(program, donations, reuse)
    reused = {d.result.index: d.argument for d in donations.values() if d.result is not None}
    shardings = _shardings(program, ARG_ATTRS, len(program.arguments))
    arguments = tuple(
        _argument(value, sharding, donations.get(value.index), offers.get(value.index), reuse)
        for value, sharding in zip(program.arguments, shardings, strict=True)
    )
    shardings = _shardings(program, RESULT_ATTRS, len(program.results))
    results = tuple(
        _described(
            value, sharding, reuses=reused[value.index].index if value.index in reused else None
        )
        for value, sharding in zip(program.results, shardings, strict=True)
    )
    return Inspection(
        entry=program.entry_name,
        arguments=arguments,
        results=results,
        donated_bytes=sum(d.argument.bytes or 0 for d in donations.values()),
        could_save_bytes=sum(a.bytes or 0 for a in arguments if a.could_serve is not None),
        diagnostics=tuple(reported(found) for found in program.warnings),
    )


class _Offer:
    """What could become of an undonated argument: a result to serve, or what hinders it."""

    def __init__(self, result: int | None, code: str | None, reason: str | None) -> None:
        self.result = result
        self.code = code
        self.reason = reason


def _offers(program: Program, donations: dict[int, Donation], reuse: Reuse) -> dict[int, _Offer]:
    """An offer for each undonated argument; no result is offered twice."""
    taken = {d.result.index for d in donations.values() if d.result is not None}
    free = [r for r in program.results if r.index not in taken and r.obstacle is None]
    offers: dict[int, _Offer] = {}
    candidates = []
    for argument in program.arguments:
        if argument.index in donations:
            continue
        hindrance = _hindrance(argument, program.results, free)
        if hindrance is None:
            candidates.append(argument)
        else:
            offers[argument.index] = _Offer(None, *hindrance)
    optional = {argument.index for argument in candidates}
    pairs = FlowPairing(reuse)(candidates, free, optional)
    for argument in candidates:
        index = argument.index
        if index in pairs.results:
            offers[index] = _Offer(pairs.results[index], *_unused(argument, reuse))
        elif index in pairs.left:
            conflict = pairs.left[index]
            offers[index] = _Offer(None, conflict.code, str(conflict))
        else:
            reason = f"other arguments take every result of {argument.held} bytes"
            offers[index] = _Offer(None, "result-taken", reason)
    return offers


def _unused(argument: Value, reuse: Reuse) -> tuple[str | None, str | None]:
    if reuse.readers[argument.index]:
        return None, None
    return "unused-argument", "nothing reads it"


def _hindrance(
    argument: Value, results: Sequence[Value], free: Sequence[Value]
) -> tuple[str, str] | None:
    """What hinders a donation before any data flow is looked at: a code and a reason."""
    if argument.internal is not None:
        return "internal", f"it is {argument.internal}"
    if argument.obstacle is not None:
        dynamic = argument.shape is None and "dynamic" in argument.obstacle
        return "dynamic" if dynamic else "no-buffer", argument.obstacle
    sized = [result for result in results if same_size(argument, result)]
    if not sized:
        return "no-result-of-size", f"no result has {argument.held} bytes"
    free_sized = [result for result in free if same_size(argument, result)]
    if not free_sized:
        return "result-taken", f"other arguments take every result of {argument.held} bytes"
    if not any(r.memory_kind == argument.memory_kind for r in free_sized):
        return "memory-kind", "the results of its size are in another kind of memory"
    return None


def _shardings(program: Program, name: str, count: int) -> list[str | None]:
    """The sharding of each argument or result as the program writes it."""
    return [
        next((str(attrs[key]).strip('"') for key in SHARDINGS if key in attrs), None)
        for attrs in attribute_dicts(program.entry, name, count)
    ]


def _argument(
    value: Value,
    sharding: str | None,
    donation: Donation | None,
    offer: _Offer | None,
    reuse: Reuse,
) -> Inspected:
    if donation is not None and donation.result is not None:
        result = donation.result.index
        conflict = reuse.conflict(value.index, result)
        why = {} if conflict is None else {"code": conflict.code, "reason": str(conflict)}
        return _described(value, sharding, donated="alias", serves=result, **why)
    if donation is not None:
        return _described(value, sharding, donated="donor")
    if offer is None:
        return _described(value, sharding)
    return _described(
        value, sharding, could_serve=offer.result, code=offer.code, reason=offer.reason
    )


def _described(value: Value, sharding: str | None, **facts: object) -> Inspected:
    return Inspected(
        index=value.index,
        name=value.name,
        type=value.type,
        bytes=value.bytes,
        sharding=sharding,
        named_by=value.named_by,
        **facts,  # type: ignore[arg-type]
    )


def justified(program: Program) -> list[tuple[Value, Value, str]]:
    """Undonated arguments that a manifest can name with a reason: argument, result, reason.

    Each is a result's earlier value, as its name or the data flow shows, and its reuse
    costs no copy.
    """
    donations = {each.argument.index for each in donation_attrs.read(program)}
    reuse = analyse(program)
    found = []
    for argument in inspect(program).arguments:
        if argument.index in donations or argument.could_serve is None:
            continue
        value, result = program.arguments[argument.index], program.results[argument.could_serve]
        if names.agree(value.name, result.name):
            found.append((value, result, "its name is the result's"))
        elif reuse.is_next_value(value.index, result.index) and value.type == result.type:
            found.append((value, result, "the result is computed from it in place"))
        elif reuse.is_unchanged(value.index, result.index):
            found.append((value, result, "it is returned unchanged"))
    return found


def suggestion(program: Program) -> str:
    """A donation manifest as YAML with comments, for a person to edit."""
    found = justified(program)
    saved = sum(argument.bytes or 0 for argument, _, _ in found)
    lines = [
        f"# Donations that {program.source.label} could make without a copy: {len(found)},",
        f"# which saves {saved:,} bytes. Remove what the caller still needs afterwards.",
        "version: 1",
        "donate:" if found else "donate: []",
    ]
    for argument, result, reason in found:
        arg = _yaml(argument.name) if _is_unique(program, argument) else str(argument.index)
        lines.append(f"  # {argument}, {argument.described()}: {reason}")
        lines.append(f"  - {{arg: {arg}, result: {result.index}}}  # {result}")
    for argument, result, reason in _costly(program):
        lines.append(f"  # not {argument}, for {result}: {reason}")
    return "\n".join(lines) + "\n"


def _costly(program: Program) -> list[tuple[Value, Value, str]]:
    """Undonated arguments whose next value is a result, and why donating them costs a copy."""
    donations = {each.argument.index for each in donation_attrs.read(program)}
    reuse = analyse(program)
    found = []
    for argument in program.arguments:
        for result in program.results if argument.index not in donations else ():
            agree = names.agree(argument.name, result.name)
            if argument.type == result.type and (
                agree
                or (argument.name is None and reuse.is_next_value(argument.index, result.index))
            ):
                conflict = reuse.conflict(argument.index, result.index)
                if conflict is not None:
                    found.append((argument, result, f"it costs a copy, as {conflict}"))
                    break
    return found


def _is_unique(program: Program, argument: Value) -> bool:
    """Whether an argument's name means it alone."""
    return [a.name for a in program.arguments].count(argument.name) == 1 and bool(argument.name)


def _yaml(text: str | None) -> str:
    """A string as YAML in double quotes, whose escapes are those of JSON."""
    return json.dumps(text or "")
