"""Files that people write, in JSON, TOML or YAML: read, and checked field by field.

Every mistake is collected before one error is raised, each at its JSON pointer.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import msgspec

from hlopass.diagnostics import Diagnostic, HlopassError, Where, nearest_or_list, quoted
from hlopass.files import read_bytes, shown


def read(path: Path | str) -> Any:
    """The plain data of a file: TOML or YAML by suffix, JSON otherwise.

    Without a suffix, as from standard input, what does not begin as JSON is YAML.

    Raises HlopassError at the line and column of a syntax error or a repeated key.
    """
    label = shown(path)
    try:
        text = read_bytes(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        message = f"not UTF-8 text: byte {error.start} is {error.object[error.start]:#04x}"
        raise HlopassError(Diagnostic("file-syntax", message, Where(label))) from None
    if not text.strip():
        raise HlopassError(Diagnostic("file-syntax", "the file is empty", Where(label)))
    suffix = Path(path).suffix.lower()
    if not suffix and text.lstrip()[0] not in "{[":
        suffix = ".yaml"
    name, parse = _FORMATS.get(suffix, ("JSON", _read_json))
    try:
        return parse(text, label)
    except RecursionError:
        raise _syntax(text, label, f"not {name}: nested too deeply", None, None) from None
    except ValueError as error:
        message = f"not {name}: {_lower(str(error).partition(';')[0])}"
        raise _syntax(text, label, message, None, None) from None


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
    if repeated:
        raise HlopassError(_repeated(key, Where(label)) for key in repeated)
    return data


def _repeated(key: str, where: Where) -> Diagnostic:
    return Diagnostic("key-repeated", f"key {quoted(key)} stands twice in one object", where)


def _read_toml(text: str, label: str) -> Any:
    import tomllib

    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        message, _, place = str(error).partition(" (at ")
        found = re.match(r"line (\d+), column (\d+)", place)
        line, column = (int(found[1]), int(found[2])) if found else (text.count("\n") + 1, None)
        raise _syntax(text, label, f"not TOML: {_lower(message)}", line, column) from None


def _read_yaml(text: str, label: str) -> Any:
    import yaml

    try:
        root = yaml.compose(text, yaml.SafeLoader)
        repeated = list(_repeated_in_yaml(root, label))
        if repeated:
            raise HlopassError(repeated)
        return yaml.safe_load(text)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        line, column = (mark.line + 1, mark.column + 1) if mark else (None, None)
        problem = f"not YAML: {error.problem}"
        problem += ' (a string that is "?" is quoted)' if "found '?'" in problem else ""
        raise _syntax(text, label, problem, line, column) from None
    except yaml.YAMLError as error:
        message = f"not YAML: {_lower(str(error).splitlines()[0])}"
        raise _syntax(text, label, message, None, None) from None
    except (KeyError, AttributeError, TypeError) as error:
        message = f"not YAML: a tag does not fit its value ({type(error).__name__})"
        raise _syntax(text, label, message, None, None) from None


def _repeated_in_yaml(root: Any, label: str) -> Iterator[Diagnostic]:
    """A finding for each key that stands twice in one mapping of a YAML node."""
    import yaml

    waiting, seen = [root], set()
    while waiting:
        node = waiting.pop()
        if id(node) in seen or not isinstance(node, yaml.CollectionNode):
            continue
        seen.add(id(node))
        if isinstance(node, yaml.MappingNode):
            keys: set[tuple[str, str]] = set()
            for key, value in node.value:
                waiting.append(value)
                if isinstance(key, yaml.ScalarNode):
                    if (key.tag, key.value) in keys:
                        mark = key.start_mark
                        yield _repeated(key.value, Where(label, mark.line + 1, mark.column + 1))
                    keys.add((key.tag, key.value))
        else:
            waiting += node.value


_FORMATS = {
    ".toml": ("TOML", _read_toml),
    ".yaml": ("YAML", _read_yaml),
    ".yml": ("YAML", _read_yaml),
}


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
        return Where(self.label, pointer=pointer or None)

    def add(self, code: str, message: str, pointer: str, help: str | None = None) -> None:
        """Notes one mistake."""
        self.found.append(Diagnostic(code, message, self.at(pointer), help=help))

    def fields(
        self, data: Any, cls: type[msgspec.Struct], pointer: str, skip: Iterable[str] = ()
    ) -> bool:
        """Checks an object against a struct, key by key; `skip` are checked by the caller."""
        legal = {field.encode_name: field for field in msgspec.structs.fields(cls)}
        if not isinstance(data, dict):
            self.add("value-type", f"expected an object, got {kind_of(data)}", pointer)
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
            if get_origin(type_) is Literal:
                legal = get_args(type_)
                hint = f"legal: {', '.join(map(str, legal))}"
                if isinstance(value, str):
                    hint = nearest_or_list(value, [str(member) for member in legal])
                self.add("value-illegal", f"illegal value {kind_of(value)}", pointer, hint)
            else:
                expected = str(error).split(" - at ")[0].split(", got")[0].replace("`", "")
                words = re.sub(r"\w+", lambda word: _TYPES.get(word[0], word[0]), expected)
                message = _lower(words.replace(" | ", " or "))
                self.add("value-type", f"{message}, got {kind_of(value)}", pointer)

    def items(self, data: Any, key: str) -> list[tuple[str, Any]]:
        """The items of a list under a top-level key, each with its pointer."""
        items = data.get(key, ()) if isinstance(data, dict) else ()
        if not isinstance(items, (list, tuple)):
            self.add("value-type", f"expected a list, got {kind_of(items)}", f"/{key}")
            return []
        return [(f"/{key}/{index}", item) for index, item in enumerate(items)]

    def finish(self) -> None:
        """Raises HlopassError with everything that was noted."""
        if self.found:
            raise HlopassError(self.found)


_TYPES = {
    "int": "an integer",
    "str": "a string",
    "bool": "true or false",
    "object": "an object",
}
"""What msgspec calls types, in the words of people who write files."""


def kind_of(value: Any, most: int = 60) -> str:
    """What a value is: a scalar as it is written, an object or a list by that word."""
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, (list, tuple)):
        return "a list"
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    shown = quoted(value) if isinstance(value, str) else str(value)
    return shown if len(shown) <= most else f"{shown[:most]}..."


def _escape(key: str) -> str:
    """A key as a JSON pointer has it (RFC 6901)."""
    return key.replace("~", "~0").replace("/", "~1")
