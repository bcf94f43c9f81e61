"""Shardings written into the HLO module that came: of its parameters, and of its result.

HLO has GSPMD's alone. A tuple has one sharding, with an element for each leaf in order.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
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


def into_text(text: str, wanted: Shardings) -> str:
    """The text with other shardings, otherwise byte for byte."""
    start = _ENTRY.search(text)
    at = 0 if start is None else start.start()
    end = text.find("\n}", at)
    body = text[at:] if end < 0 else text[at:end]
    text = text[:at] + _with_shardings(body, wanted) + text[at + len(body) :]
    text = hlo_text.with_attribute(text, "num_partitions", str(wanted.partitions))
    if wanted.result is not None and any(wanted.open):
        flags = ",".join(str(each).lower() for each in wanted.open)
        text = hlo_text.with_attribute(text, PROPAGATED, f"{{{flags}}}")
    return text


def _with_shardings(body: str, wanted: Shardings) -> str:
    """The entry computation with the shardings of its parameters and its root."""
    done, at = [], 0
    for found in _INSTRUCTION.finditer(body):
        opcode = _OPCODE.match(body, _shape_end(body, found.end()))
        if opcode is None:
            continue
        operands = hlo_text.balanced_end(body, opcode.end() - 1)
        sharding = wanted.result if found["root"] else None
        if opcode["name"] == "parameter":
            number = int(body[opcode.end() : operands - 1])
            sharding = wanted.parameters.get(number, sharding)
        if sharding is None:
            continue
        span = hlo_text.attributes(body, operands).get("sharding")
        span = span or hlo_text.Span(operands, operands, operands)
        done += [body[at : span.start], f", sharding={sharding}"]
        at = span.end
    return "".join([*done, body[at:]])


def _shape_end(text: str, at: int) -> int:
    """The end of a shape, which may be a tuple's."""
    if text.startswith("(", at):
        return hlo_text.balanced_end(text, at)
    found = re.compile(r"[\w\[\],<=]*(?:\{[^}]*\})?").match(text, at)
    return at if found is None else found.end()
