"""The donation manifest: what its files say, as frozen objects. Knows no MLIR."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec

from hlopass import config_file
from hlopass.diagnostics import Where
from hlopass.files import shown

Automatic = Literal["off", "frontend", "repair", "names", "dataflow"]
Kind = Literal["alias", "donor"]
Index = Annotated[int, msgspec.Meta(ge=0)]
Selector = Index | str


class DonateEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename={"kind": "as"}):
    """One request: the arguments that `arg` selects, and what becomes of their buffers.

    `arg` is an index, a name, a range "3:9", a glob or "re:..."; `result` means one result
    and belongs to one argument. `as: donor` leaves the choice of result to XLA. What is
    `optional` is left out where it cannot be done.
    """

    arg: Selector
    result: Selector | None = None
    kind: Kind = "alias"
    optional: bool = False


class Manifest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A whole manifest. `keep` beats everything: those arguments are never donated.

    `automatic` is about donations that nobody asks for here: `frontend` keeps those that the
    program carries, `off` drops them, `repair` keeps which arguments they donate and chooses
    the results anew, `names` and `dataflow` add pairs that names or data flow show.

    """

    version: Literal[1] = 1
    donate: tuple[Selector | DonateEntry, ...] = ()
    keep: tuple[Selector, ...] = ()
    automatic: Automatic = "frontend"

    def entries(self) -> tuple[DonateEntry, ...]:
        """The requests, short forms written out."""
        return tuple(
            entry if isinstance(entry, DonateEntry) else DonateEntry(entry) for entry in self.donate
        )


def load(path: Path | str) -> Manifest:
    """Reads a manifest file: TOML or YAML by suffix, JSON otherwise.

    Raises HlopassError with every mistake in it.
    """
    return from_data(config_file.read(path), shown(path))


def from_data(data: Any, label: str = "manifest") -> Manifest:
    """A manifest from plain data: an object, or the list under `donate` alone.

    Raises HlopassError with every mistake, each at its JSON pointer under `label`.
    """
    if isinstance(data, (list, tuple)):
        data = {"donate": list(data)}
    checker = config_file.Checker(label)
    checker.fields(data, Manifest, "", skip=("donate", "keep"))
    for pointer, item in checker.items(data, "donate"):
        if isinstance(item, dict):
            _check_entry(checker, item, pointer)
        else:
            checker.value(item, Selector | DonateEntry, pointer)
    for pointer, item in checker.items(data, "keep"):
        checker.value(item, Selector, pointer)
    checker.finish()
    return msgspec.convert(data, Manifest)


def _check_entry(checker: config_file.Checker, item: dict[str, Any], pointer: str) -> None:
    checker.fields(item, DonateEntry, pointer)
    if item.get("as") == "donor" and item.get("result") is not None:
        message = "a donor has no result: XLA chooses one by size"
        hint = "leave out 'result', or 'as' to alias the two"
        checker.add("donor-with-result", message, f"{pointer}/result", hint)


def pointer(label: str, key: str, index: int) -> Where:
    """The place of an item of `donate` or `keep` in the manifest called `label`."""
    return Where(label, pointer=f"/{key}/{index}")


def schema() -> dict[str, Any]:
    """The JSON Schema (2020-12) of what `from_data` accepts."""
    found = msgspec.json.schema(Manifest | tuple[Selector | DonateEntry, ...])
    found["$defs"]["DonateEntry"]["not"] = {
        "properties": {"as": {"const": "donor"}, "result": {"not": {"type": "null"}}},
        "required": ["as", "result"],
    }
    return found
