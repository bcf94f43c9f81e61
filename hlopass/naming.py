"""Where the names of arguments and results come from: what a frontend left, in one order.

An attribute that is there to name a value beats its location, and that the name of the SSA
value in a text. In HLO it is `op_name`, or the parameter's own name (`formats/hlo.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import jaxlib.mlir.ir as ir

from hlopass.jaxlib_compat import location_name
from hlopass.values import Role

LOCATION, SSA = "location", "SSA name"

_ATTRIBUTES: dict[Role, tuple[str, ...]] = {
    "argument": ("jax.arg_info", "tf_saved_model.index_path", "ttir.name"),
    "result": ("jax.result_info", "tf_saved_model.index_path", "ttir.name"),
}
"""JAX's, that of TensorFlow's saved models (a path), and that of tt-mlir's frontends."""


class Name(NamedTuple):
    """A name, and what gave it; both None where there is none."""

    text: str | None = None
    by: str | None = None


def name_of(
    role: Role,
    attrs: Mapping[str, ir.Attribute],
    location: Any = None,
    written: Callable[[], str | None] = lambda: None,
) -> Name:
    """The name of an argument or a result; `written` finds that of its SSA value in a text."""
    for key in _ATTRIBUTES[role] if attrs else ():
        if key in attrs:
            text = _text(attrs[key])
            if text:
                return Name(text, key)
    text = None if location is None else _of_location(location)
    if text is not None:
        return Name(text, LOCATION)
    text = written()
    return Name() if text is None else Name(text, SSA)


def _text(attribute: ir.Attribute) -> str | None:
    """A string; the steps of a path with dots between them."""
    if isinstance(attribute, ir.StringAttr):
        return attribute.value_bytes.decode(errors="backslashreplace")
    if isinstance(attribute, ir.ArrayAttr):
        steps = [
            _text(step) if isinstance(step, ir.StringAttr) else str(step).split(" ")[0]
            for step in attribute
        ]
        return ".".join(step for step in steps if step)
    return None


def _of_location(location: Any) -> str | None:
    """The name in a location, or in the first of several that are fused."""
    name = location_name(location)
    if name is not None:
        return name
    kind = getattr(ir, "FusedLoc", None)
    if kind is None or not isinstance(location, kind):
        return None
    return next((found for each in location.locations if (found := _of_location(each))), None)
