"""HLO written: the module that came with its donations, or XLA's own export of StableHLO."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hlopass import donation_attrs, jaxlib_compat
from hlopass.diagnostics import Diagnostic, HlopassError, Where
from hlopass.emit import Format
from hlopass.formats import bytecode, hlo_proto, hlo_shardings, hlo_text
from hlopass.formats.hlo_shardings import Shardings
from hlopass.formats.said import xla_error
from hlopass.hlo_origin import Alias, Donations, Origin
from hlopass.loaded import Loaded
from hlopass.program import PARTITIONS, REPLICAS, Program, count_of

Warn = Callable[[Diagnostic], None]

_COUNTS = (("replica_count", REPLICAS), ("num_partitions", PARTITIONS))
_IN_PROTO = {hlo_text.ALIASES, hlo_text.DONORS, "entry_computation_layout", "is_scheduled"}
"""What a header says that a message says as well, or that its schedule implies."""


def write(program: Loaded, format: Format, warn: Warn) -> bytes:
    """A program as HLO text or as a message; `warn` is told what that cannot say."""
    origin = program.source.origin
    if origin is None:
        return _export(program, format, warn)
    donations, sharded = origin.donations, None
    if isinstance(program, Program):
        donations = _donations(program, origin)
        sharded = hlo_shardings.changed(program, origin)
    if program.source.format == "hlo":
        text = origin.data.decode()
        if donations != origin.donations:
            text = hlo_text.with_donations(text, donations)
        if sharded is not None:
            text = hlo_shardings.into_text(text, sharded)
        return text.encode() if format == "hlo" else _text_to_message(text, format, program, warn)
    came_as_text = hlo_proto.FORMATS[program.source.format][1]
    data = origin.data.decode() if came_as_text else origin.data
    message = hlo_proto.parse(data, program.source.label)
    if donations != origin.donations:
        hlo_proto.set_donations(hlo_proto.module_of(message), donations)
    if sharded is not None:
        _shard(hlo_proto.module_of(message), sharded, program.source.label, warn)
    if format == "hlo":
        return _message_to_text(message, program.source.label)
    return _as_message(message, format, program.source.label)


def _shard(module: Any, sharded: Shardings, label: str, warn: Warn) -> None:
    """Writes shardings into a message, which does not say all that goes with them."""
    hlo_shardings.into_message(module, sharded)
    flags = ",".join(str(each).lower() for each in sharded.open)
    lost: tuple[str, ...] = (f"num_partitions={sharded.partitions}",)
    if sharded.result is not None and any(sharded.open):
        lost += (f"{hlo_shardings.PROPAGATED}={{{flags}}}",)
    _say_lost(lost, label, warn)


def _donations(program: Program, origin: Origin) -> Donations:
    """What the program's attributes say of donation, at the places of the HLO module.

    An alias that the module has already keeps its kind.
    """
    kinds = {(alias.output, alias.slot): alias for alias in origin.donations.aliases}
    aliases, donors = [], []
    for each in donation_attrs.read(program):
        slot = origin.slots[each.argument.index]
        if each.result is None:
            donors.append(slot)
        else:
            output = origin.outputs[each.result.index]
            aliases.append(kinds.get((output, slot), Alias(output, slot)))
    wanted = Donations(tuple(aliases), tuple(donors))
    same = sorted(wanted.aliases) == sorted(origin.donations.aliases)
    if same and sorted(wanted.donors) == sorted(origin.donations.donors):
        return origin.donations
    return wanted


def _export(program: Loaded, format: Format, warn: Warn) -> bytes:
    """XLA's export of a program that did not come as HLO."""
    label = program.source.label
    try:
        message, text = jaxlib_compat.stablehlo_to_hlo(bytecode.write(program))
    except RuntimeError as error:
        raise HlopassError(xla_error(error, label, doing="export to HLO")) from None
    counts = [(key, count_of(program.module, name)) for key, name in _COUNTS]
    written = {key: str(count) for key, count in counts if count > 1}
    if format == "hlo":
        for key, value in written.items():
            text = hlo_text.with_attribute(text, key, value)
        return text.rstrip("\n").encode() + b"\n"
    _say_lost(tuple(f"{key}={value}" for key, value in written.items()), label, warn)
    return _as_message(hlo_proto.of_module(message, label), format, label)


def _text_to_message(text: str, format: Format, program: Loaded, warn: Warn) -> bytes:
    label = program.source.label
    header = hlo_text.header(text)[1]
    said = {key: text[span.value : span.end].strip() for key, span in header.items()}
    ones = {"num_partitions": "1", "replica_count": "1"}
    lost = tuple(
        f"{key}={value}"
        for key, value in said.items()
        if key not in _IN_PROTO and ones.get(key) != value
    )
    _say_lost(lost, label, warn)
    message = jaxlib_compat.hlo_from_text(hlo_text.for_parser(text))
    return _as_message(hlo_proto.of_module(message, label), format, label)


def _message_to_text(message: Any, label: str) -> bytes:
    data = hlo_proto.serialized(hlo_proto.module_of(message), label)
    try:
        return jaxlib_compat.hlo_to_text(data).rstrip("\n").encode() + b"\n"
    except RuntimeError as error:
        raise HlopassError(xla_error(error, label)) from None


def _as_message(message: Any, format: Format, label: str) -> bytes:
    """A message in a format; in another message around its module, where that is asked."""
    name, as_text = hlo_proto.FORMATS[format]
    if message.DESCRIPTOR.name != name:
        module = hlo_proto.serialized(hlo_proto.module_of(message), label)
        message = hlo_proto.wrapped(module, name)
    if as_text:
        return hlo_proto.as_text(message).encode()
    return hlo_proto.serialized(message, label)


def _say_lost(lost: tuple[str, ...], label: str, warn: Warn) -> None:
    if lost:
        message = f"an HloModuleProto has no place for: {', '.join(lost)}"
        hint = "HLO text has: --emit hlo; or give them to the compiler as options"
        warn(Diagnostic("hlo-lost", message, Where(label), "warning", help=hint))


def say_lost_from_stablehlo(program: Loaded, warn: Warn) -> None:
    """Says what an HLO module has and its import to StableHLO does not."""
    origin = program.source.origin
    if origin is not None and origin.lost:
        message = f"StableHLO has no place for: {', '.join(origin.lost)}"
        where = Where(program.source.label)
        warn(Diagnostic("hlo-lost", message, where, "warning", help="HLO has: --emit hlo"))
