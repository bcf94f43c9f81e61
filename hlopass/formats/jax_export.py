"""Blobs of `jax.export`: a flatbuffer with a portable artifact in it, and much else.

Only the artifact is read and replaced. The rest stays byte for byte: a longer artifact is
added at the end, and the one field that points to it is changed.
"""

from __future__ import annotations

import struct
from typing import NamedTuple

from flatbuffers import encode, number_types, packer
from flatbuffers.table import Table

from hlopass.formats import bytecode

_VERSION_FIELD, _MODULE_FIELD = 4, 4 + 2 * 13
"""Places in the table of fields: those of the blob's version and of its module."""

_LENGTH = struct.Struct("<I")


class Held(NamedTuple):
    """Where a blob holds its module: the field that points to it, and its bytes."""

    field: int
    start: int
    end: int


def held(blob: bytes) -> Held | None:
    """Where a blob holds its module; None where the bytes are no such blob."""
    try:
        table = Table(blob, encode.Get(packer.uoffset, blob, 0))
        version, module = table.Offset(_VERSION_FIELD), table.Offset(_MODULE_FIELD)
        if not version or not module:
            return None
        if not table.Get(number_types.Uint16Flags, table.Pos + version):
            return None
        start = table.Vector(module)
        end = start + table.VectorLen(module)
    except (struct.error, TypeError, IndexError, ValueError):
        return None
    if end > len(blob) or not blob.startswith(bytecode.MAGIC, start):
        return None
    return Held(table.Pos + module, start, end)


def module_of(blob: bytes) -> bytes:
    """The portable artifact in a blob, which `held` found to be one."""
    where = held(blob)
    assert where is not None
    return blob[where.start : where.end]


def with_module(blob: bytes, artifact: bytes) -> bytes:
    """A blob with another artifact and everything else as it is.

    What the former one took and the new one does not need is filled with zeros.
    """
    where = held(blob)
    assert where is not None
    data = bytearray(blob)
    room = where.end - where.start
    if len(artifact) > room:
        if where.end == len(blob):
            del data[where.start - _LENGTH.size :]
        else:
            data[where.start : where.end] = bytes(room)
        data += bytes(-len(data) % _LENGTH.size)
        _LENGTH.pack_into(data, where.field, len(data) - where.field)
        data += _LENGTH.pack(len(artifact)) + artifact
        return bytes(data)
    data[where.start : where.end] = artifact + bytes(room - len(artifact))
    _LENGTH.pack_into(data, where.start - _LENGTH.size, len(artifact))
    return bytes(data)
