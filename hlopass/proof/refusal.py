"""What XLA says when it refuses a program, as a diagnostic of one clean sentence."""

from __future__ import annotations

import re
from collections.abc import Sequence

from hlopass.diagnostics import Diagnostic, Where, quoted

_STATUS = re.compile(
    r"(?:CANCELLED|UNKNOWN|INVALID_ARGUMENT|DEADLINE_EXCEEDED|NOT_FOUND|ALREADY_EXISTS"
    r"|PERMISSION_DENIED|RESOURCE_EXHAUSTED|FAILED_PRECONDITION|ABORTED|OUT_OF_RANGE"
    r"|UNIMPLEMENTED|INTERNAL|UNAVAILABLE|DATA_LOSS|UNAUTHENTICATED):(?:\s+|$)"
)
_NUMBER = re.compile(r"E\d{4}: \w+:\s*")
_CHECK = re.compile(
    r"RET_CHECK failure \([\w/.-]+:\d+\) (?:\S+\((?:[^()\n]|\([^()\n]*\))*\) (?=\w))?"
)
_POSITION = re.compile(r"(?P<file>[^:\n]{0,200}):(?P<line>\d+)(?::(?P<column>\d+))?: (?:error: )?")
_PREFIXES = (_STATUS, _NUMBER, _CHECK, _POSITION)
_CUT = re.compile(r"\s*(?:(?:Suspected )?Python Code Location:|See https?://)")
_SENTENCE_END = re.compile(r"\. (?=[A-Z])")
_FIRST_WORD = re.compile(r"[A-Z][a-z]+\b")
_MISSING_TARGET = re.compile(
    r"No (?:registered implementation for untyped custom call to|FFI handler registered for) (\S+)"
)
_TARGET = re.compile(r'custom_call @"?([^\s("]+)|call_target_name = "([^"]*)"')
_NO_MEMORY = re.compile(r"(?:ran )?out of memory", re.IGNORECASE)
_LONGEST = 300


def refusal(text: str, verb: str, label: str, targets: Sequence[str] = ()) -> Diagnostic:
    """The diagnostic of an XLA error whose whole text is `text`.

    `verb`: what could not be done to the program, as in "compile". `targets`: the custom
    call targets of the program that jaxlib does not register.
    """
    missing = _MISSING_TARGET.search(text)
    if missing is not None:
        return _no_target(missing[1], label, targets)
    no_memory = _NO_MEMORY.search(text)
    sentence, place = _sentence(text if no_memory is None else text[no_memory.start() :])
    exhausted = no_memory is not None or text.startswith("RESOURCE_EXHAUSTED")
    failed = "compile-failed" if verb == "compile" else "run-failed"
    code = "out-of-memory" if exhausted else failed
    notes = () if place is None else (f"at {place}",)
    return Diagnostic(code, f"XLA cannot {verb} the program: {sentence}", Where(label), notes=notes)


def custom_call_targets(text: str) -> list[str]:
    """The targets of the custom calls in a module's text, each once, in order."""
    return list(dict.fromkeys(short or long for short, long in _TARGET.findall(text)))


def _no_target(target: str, label: str, targets: Sequence[str]) -> Diagnostic:
    message = f"the CPU has no custom call target {quoted(target)}"
    others = ", ".join(quoted(other) for other in targets if other != target)
    notes = (f"the program also calls {others}, which jaxlib does not register",) if others else ()
    hint = "it belongs to another platform, or to the library that made the program"
    return Diagnostic("custom-call-missing", message, Where(label), notes=notes, help=hint)


def _sentence(text: str) -> tuple[str, str | None]:
    """The first sentence, and the place in a file that it is about, if it names one."""
    rest, before, place = text.strip(), "", None
    while rest != before:
        before = rest
        for prefix in _PREFIXES:
            found = prefix.match(rest)
            if found is not None:
                rest = rest[found.end() :].strip()
                place = place or (_place(found) if prefix is _POSITION else None)
    line = _CUT.split(rest.partition("\n")[0])[0]
    sentence = _SENTENCE_END.split(line)[0].rstrip(". ").replace("`", "'")
    if _FIRST_WORD.match(sentence):
        sentence = sentence[0].lower() + sentence[1:]
    if len(sentence) > _LONGEST:
        sentence = f"{sentence[:_LONGEST]} ..."
    return sentence or "no reason given", place


def _place(position: re.Match[str]) -> str | None:
    """A position in a file of the user's, not in text that XLA or MLIR made up."""
    file = position["file"].strip('"')
    made_up = file in ("", "-", "<unknown>", "0") or file.startswith(("#", "external/", "xla/"))
    if made_up or position["line"] == "0":
        return None
    return ":".join(part for part in (file, position["line"], position["column"]) if part)
