"""Files that people write, in JSON, TOML or YAML: read, and checked field by field.

Every mistake is collected before one error is raised, each at its JSON pointer.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, get_args

import msgspec

from hlopass.diagnostics import Diagnostic, HlopassError, Where, nearest_or_list, quoted
from hlopass.files import read_bytes


def read(path: Path | str) -> Any:
    """The plain data of a file: TOML or YAML by suffix, JSON otherwise.

    Raises HlopassError at the line and column of a syntax error or a repeated key.
    """
    label = str(path)
    try:
        text = read_bytes(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        message = f"not UTF-8 text: byte {error.start} is {error.object[error.start]:#04x}"
        raise HlopassError(Diagnostic("file-syntax", message, Where(label))) from None
    suffix = Path(path).suffix.lower()
    if suffix == ".toml":
        return _read_toml(text, label)
    if suffix in (".yaml", ".yml"):
        return _read_yaml(text, label)
    return _read_json(text, label)


def _read_json(text: str, label: str) -> Any:
    repeated: list[str] = []

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        keys = [key for key, _ in items]
        repeated.extend(key for key in dict.fromkeys(keys) if keys.count(key) > 1)
        return dict(items)

    try:
        data = json.loads(text, object_pairs_hook=pairs)
    except json.JSONDecodeError as error:
        message = f"not JSON: {error.msg[:1].lower()}{error.msg[1:]}"
        raise _syntax(text, label, message, error.lineno, error.colno) from None
    except RecursionError:
        raise _syntax(text, label, "not JSON: nested too deeply", None, None) from None
    if repeated:
        raise HlopassError(
            Diagnostic(
                "key-repeated", f"key {quoted(key)} stands twice in one object", Where(label)
            )
            for key in repeated
        )
    return data


def _read_toml(text: str, label: str) -> Any:
    import tomllib

    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise _syntax(text, label, f"not TOML: {_lower(str(error))}", None, None) from None


def _read_yaml(text: str, label: str) -> Any:
    import yaml

    try:
        return yaml.safe_load(text)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        line, column = (mark.line + 1, mark.column + 1) if mark else (None, None)
        raise _syntax(text, label, f"not YAML: {error.problem}", line, column) from None
    except yaml.YAMLError as error:
        message = f"not YAML: {_lower(str(error).splitlines()[0])}"
        raise _syntax(text, label, message, None, None) from None


def _syntax(
    text: str, label: str, message: str, line: int | None, column: int | None
) -> HlopassError:
    lines = text.split("\n")
    snippet = lines[line - 1] if line is not None and 0 < line <= len(lines) else None
    return HlopassError(
        Diagnostic("file-syntax", message, Where(label, line, column, None, snippet))
    )


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:]


class Checker:
    """Collects the mistakes of one file; `finish` raises them all."""

    def __init__(self, label: str) -> None:
        self.label = label
        self.found: list[Diagnostic] = []

    def at(self, pointer: str) -> Where:
        """The place of a JSON pointer in this file."""
        return Where(self.label, pointer=pointer or "/")

    def add(self, code: str, message: str, pointer: str, help: str | None = None) -> None:
        """Notes one mistake."""
        self.found.append(Diagnostic(code, message, self.at(pointer), help=help))

    def fields(
        self, data: Any, cls: type[msgspec.Struct], pointer: str, skip: Iterable[str] = ()
    ) -> bool:
        """Checks an object against a struct, key by key; `skip` are checked by the caller."""
        legal = {field.encode_name: field for field in msgspec.structs.fields(cls)}
        if not isinstance(data, dict):
            self.add("value-type", f"expected an object, got {_kind(data)}", pointer)
            return False
        for key, value in data.items():
            at = f"{pointer}/{_escape(str(key))}"
            if key not in legal:
                hint = nearest_or_list(str(key), list(legal))
                self.add("key-unknown", f"unknown key {quoted(str(key))}", at, hint)
            elif key not in skip:
                self.value(value, legal[key].type, at)
        missing = [k for k, field in legal.items() if field.required and k not in data]
        for key in missing:
            self.add("key-missing", f"key {quoted(key)} is missing", pointer)
        return not missing

    def value(self, value: Any, type_: Any, pointer: str) -> None:
        """Checks one value against a type."""
        try:
            msgspec.convert(value, type_)
        except msgspec.ValidationError as error:
            legal = [member for member in get_args(type_) if not isinstance(member, type)]
            if str(error).startswith("Invalid enum value") and legal:
                hint = nearest_or_list(str(value), [str(member) for member in legal])
                self.add("value-illegal", f"illegal value {value!r}", pointer, hint)
            else:
                message = str(error).split(" - at ")[0].replace("`", "")
                self.add("value-type", _lower(message.replace(" | ", " or ")), pointer)

    def items(self, data: Any, key: str) -> list[tuple[str, Any]]:
        """The items of a list under a top-level key, each with its pointer."""
        items = data.get(key, ()) if isinstance(data, dict) else ()
        if not isinstance(items, (list, tuple)):
            self.add("value-type", f"expected a list, got {_kind(items)}", f"/{key}")
            return []
        return [(f"/{key}/{index}", item) for index, item in enumerate(items)]

    def finish(self) -> None:
        """Raises HlopassError with everything that was noted."""
        if self.found:
            raise HlopassError(self.found)


def _kind(value: Any) -> str:
    names = {dict: "an object", list: "a list", str: "a string", bool: "a boolean"}
    if value is None:
        return "null"
    return names.get(type(value), f"the {type(value).__name__} {value!r}")


def _escape(key: str) -> str:
    """A key as a JSON pointer has it (RFC 6901)."""
    return key.replace("~", "~0").replace("/", "~1")
