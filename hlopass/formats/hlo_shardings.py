"""Shardings written into the HLO module that came: of its parameters, and of its result.

HLO has GSPMD's alone. A tuple has one sharding, with an element for each leaf in order.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hlopass import jaxlib_compat
from hlopass.diagnostics import Diagnostic, HlopassError, Where
from hlopass.formats import hlo, hlo_text
from hlopass.hlo_origin import Origin, Path
from hlopass.program import Program
from hlopass.values import Value

PROPAGATED = "allow_spmd_sharding_propagation_to_output"

_REPLICATED = "{replicated}"
_INSTRUCTION = re.compile(r"(?m)^[ \t]*(?P<root>ROOT\s+)?%?[\w.-]+\s*=\s*")
_OPCODE = re.compile(r"\s*(?P<name>[\w-]+)\(")
_ENTRY = re.compile(r"(?m)^\s*ENTRY\b")


@dataclass(frozen=True)
class Shardings:
    """What differs from the module that came.

    `parameters`: by number. `result`: that of the root. `open`: for each leaf of the result,
    whether it is left to propagation. `partitions`: for how many devices they are.
    """

    parameters: Mapping[int, str]
    result: str | None
    open: tuple[bool, ...]
    partitions: int


def changed(program: Program, origin: Origin) -> Shardings | None:
    """The shardings of a program that its HLO module lacks; None where it has all.

    Raises HlopassError for one of Shardy's.
    """
    after = hlo.shardings(program.entry)
    if after == origin.shardings:
        return None
    values = (*program.arguments, *program.results)
    texts = [_text(value, program) for value in values]
    count = len(program.arguments)
    numbers = {
        origin.slots[at].parameter for at in range(count) if after[at] != origin.shardings[at]
    }
    parameters = {}
    for number in sorted(numbers):
        places = [at for at, slot in enumerate(origin.slots) if slot.parameter == number]
        paths = [origin.slots[at].path for at in places]
        parameters[number] = _joined(paths, [texts[at] for at in places])
    result = None
    if after[count:] != origin.shardings[count:]:
        result = _joined(origin.outputs, texts[count:])
    left = tuple(text is None for text in texts[count:])
    return Shardings(parameters, result, left, program.partitions)


def _text(value: Value, program: Program) -> str | None:
    table = program.argument_shardings if value.role == "argument" else program.result_shardings
    found = table.get(value.index)
    if found is None:
        return None
    if found.dialect == "gspmd":
        return found.text
    message = f"cannot write a sharding of {value} into an HLO module: {found.text}"
    hint = "HLO has GSPMD's: dialect: gspmd; or write StableHLO: --emit text"
    where = Where(program.source.label)
    raise HlopassError(Diagnostic("hlo-sharding", message, where, help=hint))


def _joined(paths: Sequence[Path], texts: Sequence[str | None]) -> str:
    """The sharding of a value from those of its leaves; that of none is replicated."""
    written = [text or _REPLICATED for text in texts]
    return written[0] if paths == [()] or tuple(paths) == ((),) else f"{{{', '.join(written)}}}"


def into_message(module: Any, wanted: Shardings) -> None:
    """Writes shardings into an HloModuleProto, and touches nothing else in it."""
    entry = next(c for c in module.computations if c.id == module.entry_computation_id)
    for each in entry.instructions:
        text = wanted.result if each.id == entry.root_id else None
        if each.opcode == b"parameter":
            text = wanted.parameters.get(each.parameter_number, text)
        if text is not None:
            each.sharding.ParseFromString(jaxlib_compat.sharding_message(text))
            each.sharding.SetInParent()


def out_of_message(module: Any) -> None:
    """Removes the shardings of the parameters and the root of an HloModuleProto."""
    entry = next(c for c in module.computations if c.id == module.entry_computation_id)
    for each in entry.instructions:
        if each.opcode == b"parameter" or each.id == entry.root_id:
            each.ClearField("sharding")


def out_of_text(text: str) -> str:
    """The text without what `into_text` may write."""
    start, end = _entry(text)
    text = text[:start] + _replaced(text[start:end], lambda *_: "") + text[end:]
    for key in ("num_partitions", PROPAGATED):
        text = hlo_text.with_attribute(text, key, None)
    return text


def into_text(text: str, wanted: Shardings) -> str:
    """The text with other shardings, otherwise byte for byte."""

    def written(parameter: int | None, root: bool) -> str | None:
        found = wanted.result if root else None
        return found if parameter is None else wanted.parameters.get(parameter, found)

    start, end = _entry(text)
    text = text[:start] + _replaced(text[start:end], written) + text[end:]
    text = hlo_text.with_attribute(text, "num_partitions", str(wanted.partitions))
    if wanted.result is not None and any(wanted.open):
        flags = ",".join(str(each).lower() for each in wanted.open)
        text = hlo_text.with_attribute(text, PROPAGATED, f"{{{flags}}}")
    return text


def _entry(text: str) -> tuple[int, int]:
    """Where the entry computation stands."""
    start = _ENTRY.search(text)
    at = 0 if start is None else start.start()
    end = text.find("\n}", at)
    return at, len(text) if end < 0 else end


def _replaced(body: str, wanted: Callable[[int | None, bool], str | None]) -> str:
    """The entry computation with other shardings of its parameters, by number, and its root.

    `wanted` gives None for what stays, and "" for none.
    """
    done, at = [], 0
    for found in _INSTRUCTION.finditer(body):
        opcode = _OPCODE.match(body, _shape_end(body, found.end()))
        if opcode is None:
            continue
        operands = hlo_text.balanced_end(body, opcode.end() - 1)
        inside = body[opcode.end() : operands - 1].strip()
        is_parameter = opcode["name"] == "parameter" and inside.isdecimal()
        if not (is_parameter or found["root"]):
            continue
        sharding = wanted(int(inside) if is_parameter else None, bool(found["root"]))
        if sharding is None:
            continue
        span = hlo_text.attributes(body, operands).get("sharding")
        span = span or hlo_text.Span(operands, operands, operands)
        done += [body[at : span.start], f", sharding={sharding}" if sharding else ""]
        at = span.end
    return "".join([*done, body[at:]])


def _shape_end(text: str, at: int) -> int:
    """The end of a shape, which may be a tuple's."""
    if text.startswith("(", at):
        return hlo_text.balanced_end(text, at)
    found = re.compile(r"[\w\[\],<=]*(?:\{[^}]*\})?").match(text, at)
    return at if found is None else found.end()
