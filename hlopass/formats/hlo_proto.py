"""Messages of hlo.proto, read and written with the protobuf library.

What is not looked at stays as it is, and in the order in which XLA writes it: the library
parses all fields of hlo.proto as the newest jaxlib has it, and keeps those it does not know.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from pathlib import Path as File
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory, text_format
from google.protobuf.message import DecodeError, EncodeError

from hlopass.diagnostics import Diagnostic, HlopassError, Where
from hlopass.emit import Format
from hlopass.hlo_origin import Alias, Donations, Path, Slot

MESSAGES = {
    "HloModuleProto": (),
    "HloProto": ("hlo_module",),
    "HloSnapshot": ("hlo", "hlo_module"),
    "HloUnoptimizedSnapshot": ("hlo_module",),
}
"""Messages that hold a module, and where it stands in them."""

FORMATS: dict[Format, tuple[str, bool]] = {
    "hlo-proto": ("HloModuleProto", False),
    "hlo-pbtxt": ("HloModuleProto", True),
    "hlo-dump": ("HloProto", False),
    "hlo-dump-pbtxt": ("HloProto", True),
    "hlo-snapshot": ("HloSnapshot", False),
    "hlo-snapshot-pbtxt": ("HloSnapshot", True),
    "hlo-unoptimized": ("HloUnoptimizedSnapshot", False),
    "hlo-unoptimized-pbtxt": ("HloUnoptimizedSnapshot", True),
}
"""The message of a format, and whether it is a text proto."""

_TUPLE = 13
_KINDS: dict[int, Any] = {1: "may-alias", 2: "must-alias"}


@functools.cache
def _message(name: str) -> Any:
    files = descriptor_pb2.FileDescriptorSet.FromString(
        File(__file__).with_name("hlo.binpb").read_bytes()
    )
    pool = descriptor_pool.DescriptorPool()
    for file in files.file:
        pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(f"xla.{name}"))


def parse(data: bytes | str, label: str) -> Any:
    """The message that holds a module. Raises HlopassError where there is none."""
    failures: list[tuple[int, str]] = []
    for name in MESSAGES:
        try:
            found = _parse(data, _message(name))
        except DecodeError:
            continue
        except text_format.ParseError as error:
            failures.append((error.GetLine() or 0, str(error)))
            continue
        if module_of(found).computations:
            return found
    kind = "a text proto" if isinstance(data, str) else "binary data"
    message = f"not a module: {kind}, but no {', '.join(MESSAGES)} with computations"
    notes = (f"line {max(failures)[1]}",) if failures else ()
    raise HlopassError(Diagnostic("format-unknown", message, Where(label), notes=notes))


def _parse(data: bytes | str, kind: Any) -> Any:
    if isinstance(data, bytes):
        return kind.FromString(data)
    return text_format.Parse(data, kind())


def module_of(message: Any) -> Any:
    """The HloModuleProto in a message."""
    for field in MESSAGES[message.DESCRIPTOR.name]:
        message = getattr(message, field)
    return message


def serialized(message: Any, label: str) -> bytes:
    """A message as bytes. Raises HlopassError where it is too large for that."""
    try:
        return bytes(message.SerializeToString(deterministic=True))
    except EncodeError as error:
        found = Diagnostic("proto-too-large", f"cannot write the message: {error}", Where(label))
        raise HlopassError(found) from None


def as_text(message: Any) -> str:
    """A message as a text proto."""
    return str(text_format.MessageToString(message))


def of_module(data: bytes, label: str) -> Any:
    """A module as XLA serialized it, without the number that counts modules of a process."""
    module = parse(data, label)
    module.ClearField("id")
    return module


def wrapped(module: bytes, name: str) -> Any:
    """A module in a new message of another kind."""
    message = _message(name)()
    module_of(message).MergeFromString(module)
    return message


def donations(module: Any) -> Donations:
    """What a module says of donation."""
    aliases = tuple(
        Alias(
            tuple(entry.output_shape_index),
            Slot(entry.parameter_number, tuple(entry.parameter_shape_index)),
            _KINDS.get(entry.kind, "may-alias"),
        )
        for entry in module.input_output_alias.entries
    )
    donors = tuple(
        Slot(entry.parameter_number, tuple(entry.parameter_shape_index))
        for entry in module.buffer_donor.entries
    )
    return Donations(aliases, donors)


def set_donations(module: Any, wanted: Donations) -> None:
    """Writes donations into a module, and touches nothing else in it."""
    for field in ("input_output_alias", "buffer_donor"):
        if module.HasField(field):
            del getattr(module, field).entries[:]
    numbers = {kind: number for number, kind in _KINDS.items()}
    for alias in wanted.aliases:
        module.input_output_alias.entries.add(
            output_shape_index=alias.output,
            parameter_number=alias.slot.parameter,
            parameter_shape_index=alias.slot.path,
            kind=numbers[alias.kind],
        )
    for parameter, path in wanted.donors:
        module.buffer_donor.entries.add(parameter_number=parameter, parameter_shape_index=path)


def slots(module: Any) -> tuple[Slot, ...]:
    """The leaves of the parameters, in the order in which they are flattened."""
    parameters = module.host_program_shape.parameters
    return tuple(
        Slot(number, path) for number, shape in enumerate(parameters) for path in _leaves(shape)
    )


def outputs(module: Any) -> tuple[Path, ...]:
    """The leaves of the result."""
    return tuple(_leaves(module.host_program_shape.result))


def _leaves(shape: Any, path: Path = ()) -> Iterator[Path]:
    if shape.element_type != _TUPLE:
        yield path
        return
    for index, inner in enumerate(shape.tuple_shapes):
        yield from _leaves(inner, (*path, index))


def parameter_names(module: Any) -> dict[int, tuple[str, str]]:
    """For each parameter by number: its own name, and what the frontend called it, or ""."""
    entry = next((c for c in module.computations if c.id == module.entry_computation_id), None)
    if entry is None:
        return {}
    return {
        each.parameter_number: (_text(each.name), _text(each.metadata.op_name))
        for each in entry.instructions
        if each.opcode == b"parameter"
    }


def _text(raw: bytes) -> str:
    return raw.decode(errors="backslashreplace")
