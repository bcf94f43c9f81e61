"""StableHLO and MHLO as MLIR bytecode."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import jaxlib.mlir.ir as ir

from hlopass.formats import text

if TYPE_CHECKING:
    from hlopass.loaded import Loaded

MAGIC = b"ML\xefR"


def write(program: Loaded) -> bytes:
    """A program as bytecode, with its names and locations.

    The positions that parsing a text made up are left out: the bytes do not depend on how
    the text was laid out.
    """
    module = program.module
    if program.source.format == "text":
        module = ir.Module.parse(text.with_locations(program), context=program.context)
    buffer = io.BytesIO()
    module.operation.write_bytecode(buffer)
    return buffer.getvalue()
