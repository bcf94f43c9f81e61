"""What a type says about the buffer of a value that has it."""

from __future__ import annotations

import math
from typing import NamedTuple

import jaxlib.mlir.ir as ir


class BufferLayout(NamedTuple):
    """What a type says about a buffer; `obstacle`: why it cannot be reused."""

    type: str
    shape: tuple[int, ...] | None = None
    bytes: int | None = None
    obstacle: str | None = None


def layout_of(type_: ir.Type) -> BufferLayout:
    """The layout of a type of an argument or result."""
    text = str(type_)
    if text in ("!stablehlo.token", "!mhlo.token"):
        return BufferLayout(text, obstacle="a token has no buffer")
    if text.startswith("tuple<"):
        return BufferLayout(text, obstacle="a tuple is several buffers")
    if not isinstance(type_, ir.RankedTensorType):
        return BufferLayout(text, obstacle=f"{text} is not a ranked tensor")
    bits = _element_bits(type_.element_type)
    if bits is None:
        element = type_.element_type
        return BufferLayout(text, obstacle=f"the size of an element of type {element} is not known")
    if not type_.has_static_shape:
        return BufferLayout(text, obstacle="its shape is dynamic")
    shape = tuple(type_.shape)
    size = (math.prod(shape) * bits + 7) // 8
    return BufferLayout(text, shape, size, "it holds no elements" if size == 0 else None)


def _element_bits(element: ir.Type) -> int | None:
    """Bits of an element in an XLA buffer: i1 takes a byte, smaller types are packed."""
    if isinstance(element, ir.IntegerType):
        return 8 if element.width == 1 else element.width
    if isinstance(element, ir.ComplexType):
        half = _element_bits(element.element_type)
        return None if half is None else 2 * half
    if isinstance(element, ir.FloatType):
        return element.width
    return None
