"""Why a donation is not made, not reused, or costs a copy: a closed list of codes."""

from __future__ import annotations

REASONS: dict[str, str] = {
    "no-result-of-size": "no result has as many bytes",
    "size-differs": "the result that is named has another number of bytes",
    "result-taken": "other arguments take every result of its size",
    "memory-kind": "the results of its size are in another kind of memory",
    "no-buffer": "it is a token, a tuple, or empty, and has no buffer to give",
    "dynamic": "its size is not known before the program runs",
    "internal": "the frontend added it for itself",
    "unused-argument": "nothing reads it; its buffer can hold any result of its size",
    "read-after-write": "something reads it that nothing orders before the write",
    "read-later": "something reads it after the write",
    "read-again": "something that XLA may compute again reads it after the write",
    "not-in-place": "the operation that writes the result cannot work in place",
    "other-shape": "the write reads it in another shape or element type",
    "returned-unchanged": "it is also returned unchanged",
    "result-unchanged": "the result is another argument, unchanged",
    "result-changed": "the result is another argument, changed in place",
    "result-constant": "the result is a constant, or starts as one",
    "branch-unchanged": "a branch returns another argument unchanged",
    "dropped-by-compiler": "the compiled program's alias table lacks it",
    "copied-at-run-time": "the runtime put the result into another buffer",
}
"""What each code means. Reports and tables use these codes and no others."""
