"""What XLA says when it refuses a program, as a diagnostic of one clean sentence."""

from __future__ import annotations

import re
from collections.abc import Sequence

from hlopass.diagnostics import Diagnostic, Where, quoted

_STATUS = re.compile(r"(?:[A-Z]+_)*[A-Z]+: (?=\S)")
_POSITION = re.compile(r"(?P<file>[^:]{0,200}):(?P<line>\d+)(?::(?P<column>\d+))?: (?:error: )?")
_CHECK = re.compile(r"RET_CHECK failure \([\w/.-]+:\d+\) ")
_CUT = re.compile(r"\s*(?:(?:Suspected )?Python Code Location:|See https?://\S*|in bytecode version)")
_SENTENCE_END = re.compile(r"\. (?=[A-Z])")
_MISSING_TARGET = re.compile(
    r"No (?:registered implementation for untyped custom call to|FFI handler registered for) (\S+)"
)
_NO_MEMORY = re.compile(r"out of memory", re.IGNORECASE)
_LONGEST = 300


def refusal(text: str, verb: str, label: str, targets: Sequence[str] = ()) -> Diagnostic:
    """The diagnostic of an XLA error whose whole text is `text`.

    `verb`: what could not be done to the program, as in "compile". `targets`: the custom
    call targets of the program that jaxlib does not register.
    """
    missing = _MISSING_TARGET.search(text)
    if missing is not None:
        return _no_target(missing[1], label, targets)
    sentence, place = _sentence(text)
    no_memory = text.startswith("RESOURCE_EXHAUSTED") or _NO_MEMORY.search(text) is not None
    code = "out-of-memory" if no_memory else f"{verb}-failed"
    notes = () if place is None else (f"at {place}",)
    return Diagnostic(code, f"XLA cannot {verb} the program: {sentence}", Where(label), notes=notes)


def _no_target(target: str, label: str, targets: Sequence[str]) -> Diagnostic:
    message = f"the cpu has no custom call target {quoted(target)}"
    others = [quoted(other) for other in targets if other != target]
    notes = ()
    if others:
        notes = (f"jaxlib does not register these targets of the program: {', '.join(others)}",)
    hint = "it comes with another platform, or with the library that made the program"
    return Diagnostic("custom-call-missing", message, Where(label), notes=notes, help=hint)


def _sentence(text: str) -> tuple[str, str | None]:
    """The first sentence, and the place in a file that it is about, if it names one."""
    lines = (line.strip() for line in text.splitlines())
    rest = next((line for line in lines if line), "")
    place = None
    while True:
        position = _POSITION.match(rest)
        shorter = _STATUS.sub("", rest, count=1) if _STATUS.match(rest) else rest
        if position is not None:
            shorter = rest[position.end() :]
            place = place or _place(position)
        shorter = _CHECK.sub("", shorter.removeprefix("error: "))
        if shorter == rest:
            break
        rest = shorter
    rest = _SENTENCE_END.split(_CUT.split(rest)[0])[0].rstrip(". ").replace("`", "'")
    if rest[1:2].islower():
        rest = rest[:1].lower() + rest[1:]
    if len(rest) > _LONGEST:
        rest = f"{rest[:_LONGEST]} ..."
    return rest or "no reason given", place


def _place(position: re.Match[str]) -> str | None:
    """A position in a file of the user's, not in text that XLA or MLIR made up."""
    file = position["file"].strip('"')
    if file in ("-", "<unknown>", "0") or file.startswith(("#", "external/", "xla/")):
        return None
    if position["line"] == "0":
        return None
    return ":".join(part for part in (file, position["line"], position["column"]) if part)
