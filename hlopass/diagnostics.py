"""What went wrong, where, and what would be legal: one shape, one renderer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

Severity = Literal["error", "warning"]


@dataclass(frozen=True)
class Where:
    """A place in a file: by line and column, or by JSON pointer.

    `line` and `column` count from 1; `snippet` is the line itself, where it helps.
    """

    file: str
    line: int | None = None
    column: int | None = None
    pointer: str | None = None
    snippet: str | None = None

    def __str__(self) -> str:
        if self.pointer is not None:
            return f"{self.file}#{self.pointer}"
        parts = [self.file, *(str(n) for n in (self.line, self.column) if n is not None)]
        return ":".join(parts)


@dataclass(frozen=True)
class Diagnostic:
    """One finding. `code` is stable; `message` is lowercase and has no full stop."""

    code: str
    message: str
    where: Where | None = None
    severity: Severity = "error"
    notes: tuple[str, ...] = ()
    help: str | None = None

    def as_warning(self) -> Diagnostic:
        """The same finding as a warning."""
        return replace(self, severity="warning")

    def __str__(self) -> str:
        return render(self)


class HlopassError(Exception):
    """Raised with every diagnostic found; `exit_status` is that of the command line."""

    exit_status = 1

    def __init__(self, diagnostics: Diagnostic | Iterable[Diagnostic]) -> None:
        found = (diagnostics,) if isinstance(diagnostics, Diagnostic) else tuple(diagnostics)
        super().__init__("\n".join(render(diagnostic) for diagnostic in found))
        self.diagnostics = found


class UsageError(HlopassError):
    """Options that do not fit together."""

    exit_status = 2


class CompilerDied(HlopassError):
    """The compiler crashed or ran out of time; it ran in a process of its own."""

    exit_status = 4


def together(found: Sequence[Diagnostic], message: str) -> Sequence[Diagnostic]:
    """Findings of one kind, as one where there are several: `message` is said of all of them.

    The first three stand in notes, then what all of them note; the place is the first's.
    """
    if len(found) < 2:
        return found
    shared = [note for note in found[0].notes if all(note in each.notes for each in found)]
    notes = [
        ": ".join([each.message, "; ".join(note for note in each.notes if note not in shared)])
        for each in found[:3]
    ]
    notes = [note.removesuffix(": ") for note in notes]
    notes += [f"and {len(found) - 3} more"] if len(found) > 3 else []
    notes += shared
    hint = found[0].help if len({each.help for each in found}) == 1 else None
    return [replace(found[0], message=message, notes=tuple(notes), help=hint)]


def render(diagnostic: Diagnostic) -> str:
    """The text of a diagnostic, as the command line prints it."""
    where = f"{diagnostic.where}: " if diagnostic.where is not None else "hlopass: "
    lines = [f"{where}{diagnostic.severity}: {diagnostic.message} [{diagnostic.code}]"]
    if diagnostic.where is not None and diagnostic.where.snippet is not None:
        lines += _snippet(diagnostic.where)
    lines += [f"  note: {note}" for note in diagnostic.notes]
    if diagnostic.help is not None:
        lines.append(f"  help: {diagnostic.help}")
    return "\n".join(lines)


def _snippet(where: Where, width: int = 120) -> list[str]:
    """The line in question with a caret, cut to `width` columns around the caret."""
    text = (where.snippet or "").replace("\t", " ")
    caret = (where.column or 1) - 1
    start = max(0, caret - width // 2) if len(text) > width else 0
    lines = ["  | " + text[start : start + width].rstrip()]
    if where.column is not None:
        lines.append("  | " + " " * (caret - start) + "^")
    return lines


def did_you_mean(word: str, legal: Sequence[str]) -> str | None:
    """The legal word nearest to `word`, or None where none is near."""
    import difflib

    near = difflib.get_close_matches(word, legal, n=1, cutoff=0.6)
    return near[0] if near else None


def nearest_or_list(word: str, legal: Sequence[str], most: int = 12) -> str:
    """A help text: the nearest legal word, or the legal ones."""
    near = did_you_mean(word, legal)
    if near is not None:
        return f"did you mean {quoted(near)}?"
    shown = ", ".join(quoted(name) for name in legal[:most])
    more = f" and {len(legal) - most} more" if len(legal) > most else ""
    return f"legal: {shown}{more}" if legal else "there are none"


def quoted(text: str) -> str:
    """`text` in quotes: single ones, or double ones where it holds single ones."""
    if not text.isprintable():
        return repr(text)
    return f'"{text}"' if "'" in text else f"'{text}'"
