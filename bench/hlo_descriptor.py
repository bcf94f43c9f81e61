"""Writes hlopass/formats/hlo.binpb: what hlo.proto says, as the installed jaxlib has it.

    python bench/hlo_descriptor.py

The compiler's library holds the description of every message that it reads. Strings are made
bytes, which are the same on the wire: what is no UTF-8 is XLA's to refuse.
"""

from __future__ import annotations

import re
from pathlib import Path

import jaxlib
from google.protobuf import descriptor_pb2

ROOT = "xla/service/hlo.proto"
TARGET = Path(__file__).parent.parent / "hlopass" / "formats" / "hlo.binpb"
_STRING, _BYTES, _DELIMITED = 9, 12, 2
_SYNTAX = 12
"""The last field of a file's description that is written."""


def main() -> None:
    library = Path(jaxlib.__file__).with_name("libjax_common.so").read_bytes()
    files: dict[str, descriptor_pb2.FileDescriptorProto] = {}
    _add(ROOT, library, files)
    found = descriptor_pb2.FileDescriptorSet(file=files.values())
    TARGET.write_bytes(found.SerializeToString(deterministic=True))
    print(f"{TARGET}: {len(files)} files, {TARGET.stat().st_size:,} bytes")


def _add(name: str, library: bytes, files: dict[str, descriptor_pb2.FileDescriptorProto]) -> None:
    """Adds a file after those that it imports."""
    if name in files:
        return
    found = _description(name, library)
    for imported in found.dependency:
        _add(imported, library, files)
    if name.startswith("xla/"):
        for message in found.message_type:
            _strings_to_bytes(message)
    files[name] = found


def _description(name: str, library: bytes) -> descriptor_pb2.FileDescriptorProto:
    """The longest description of a file in the library: it begins with the file's name."""
    start = b"\n" + bytes([len(name)]) + name.encode()
    candidates = (
        library[at.start() : _end(library, at.start())]
        for at in re.finditer(re.escape(start), library)
    )
    return descriptor_pb2.FileDescriptorProto.FromString(max(candidates, key=len))


def _end(data: bytes, at: int) -> int:
    """Where the fields of a description that begins at a place end."""
    while data[at] & 7 == _DELIMITED:
        field = data[at] >> 3
        length, shift, at = 0, 0, at + 1
        while True:
            length |= (data[at] & 127) << shift
            shift += 7
            at += 1
            if data[at - 1] < 128:
                break
        at += length
        if field == _SYNTAX:
            break
    return at


def _strings_to_bytes(message: descriptor_pb2.DescriptorProto) -> None:
    """Changes all but the keys of maps, which cannot be bytes."""
    for field in message.field:
        if field.type == _STRING and not (message.options.map_entry and field.number == 1):
            field.type = _BYTES
    for nested in message.nested_type:
        _strings_to_bytes(nested)


if __name__ == "__main__":
    main()
