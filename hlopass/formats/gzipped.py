"""Gzip of any format."""

from __future__ import annotations

import zlib

from hlopass.diagnostics import Diagnostic, HlopassError, Where

MAGIC = b"\x1f\x8b"
MOST_BYTES = 1 << 30
"""What unpacks to more is refused before it fills the memory."""

_GZIP = 31
"""zlib's number for a gzip header and trailer around 32 KiB windows."""


def read(data: bytes, label: str) -> bytes:
    """What is packed, of all members. Raises HlopassError where it is damaged or too much."""
    parts: list[bytes] = []
    left = MOST_BYTES
    while data:
        member = zlib.decompressobj(_GZIP)
        try:
            part = member.decompress(data, left + 1)
        except zlib.error as error:
            raise HlopassError(_damaged(str(error), label)) from None
        left -= len(part)
        if left < 0:
            message = f"the gzip data unpacks to more than the limit of {MOST_BYTES:,} bytes"
            hint = "unpack it yourself if it is to be trusted: files that are not packed have none"
            raise HlopassError(Diagnostic("gzip-limit", message, Where(label), help=hint))
        if not member.eof:
            raise HlopassError(_damaged("it ends early", label))
        parts.append(part)
        data = member.unused_data
    return b"".join(parts)


def write(data: bytes) -> bytes:
    """The data packed, without a time or a name: the same data gives the same bytes."""
    packer = zlib.compressobj(9, zlib.DEFLATED, _GZIP)
    return packer.compress(data) + packer.flush()


def _damaged(reason: str, label: str) -> Diagnostic:
    reason = reason.removeprefix("Error -3 while decompressing data: ")
    message = f"the gzip data is damaged: {reason}"
    return Diagnostic("gzip-damaged", message, Where(label))
