"""What a proof is held against: another program, or the report of an earlier proof."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from hlopass.diagnostics import Diagnostic, HlopassError, Where
from hlopass.files import read_bytes, shown
from hlopass.report import Report
from hlopass.sources import bytes_of


class Base(NamedTuple):
    """A program as bytes, with what to call it, or a report; `said`: what either is called."""

    said: str = ""
    label: str | None = None
    raw: bytes | None = None
    report: Report | None = None


def base_of(against: Any) -> Base:
    """A base as users give it; None is none. Raises HlopassError where it cannot be read."""
    if against is None:
        return Base()
    if isinstance(against, Report):
        return Base("the report", report=against)
    if isinstance(against, (str, Path)) and str(against).endswith(".json"):
        said = shown(against)
        try:
            report = msgspec.json.decode(read_bytes(against), type=Report)
        except (msgspec.DecodeError, msgspec.ValidationError) as error:
            message = f"it is no report of hlopass: {error}"
            raise HlopassError(Diagnostic("report-unreadable", message, Where(said))) from None
        return Base(said, report=report)
    if hasattr(against, "program") and hasattr(against, "data"):
        label = str(against.program.source.label)
        return Base(label, label, against.data())
    raw, label = bytes_of(against, None)
    return Base(label, label, raw)
