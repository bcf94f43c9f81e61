"""Pipelines as text: `strip-donation,convert-donation{to=module}`."""

from __future__ import annotations

import dataclasses
import re
import typing
from typing import Any, NoReturn

from hlopass.diagnostics import Diagnostic, UsageError, Where, nearest_or_list, quoted
from hlopass.passes import Pass, all_passes

_NAME = re.compile(r"[A-Za-z][\w-]*")
_OPTION = re.compile(r"([A-Za-z][\w-]*)=([^\s,{}]+)")


def parse(text: str) -> list[Pass]:
    """The passes of a pipeline: names with options, separated by commas.

    Options stand in braces, separated by commas or spaces. Raises UsageError at the
    column of a mistake.
    """
    return _Parser(text).pipeline()


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def pipeline(self) -> list[Pass]:
        passes = [self._pass()]
        while self._skip() < len(self.text):
            if self.text[self.at] != ",":
                self._fail("expected ',' or the end", self.at)
            self.at += 1
            passes.append(self._pass())
        return passes

    def _skip(self) -> int:
        while self.at < len(self.text) and self.text[self.at].isspace():
            self.at += 1
        return self.at

    def _pass(self) -> Pass:
        start = self._skip()
        found = _NAME.match(self.text, start)
        if found is None:
            self._fail("expected the name of a pass", start)
        self.at = found.end()
        cls = all_passes().get(found[0])
        if cls is None:
            hint = nearest_or_list(found[0], list(all_passes()))
            self._fail(f"no pass is called {quoted(found[0])}", start, hint)
        return cls(**self._options(cls))

    def _options(self, cls: type[Pass]) -> dict[str, Any]:
        if self._skip() >= len(self.text) or self.text[self.at] != "{":
            return {}
        self.at += 1
        fields = {field.name: field for field in dataclasses.fields(cls)}
        types = typing.get_type_hints(cls)
        options: dict[str, Any] = {}
        while self._skip() < len(self.text) and self.text[self.at] != "}":
            if self.text[self.at] == ",":
                self.at += 1
                continue
            found = _OPTION.match(self.text, self.at)
            if found is None:
                self._fail("expected an option as name=value, or '}'", self.at)
            name = found[1].replace("-", "_")
            if name not in fields:
                hint = nearest_or_list(found[1], list(fields))
                self._fail(f"pass {cls.name} has no option {quoted(found[1])}", self.at, hint)
            options[name] = self._value(found[2], types[name], found.start(2))
            self.at = found.end()
        if self.at >= len(self.text):
            self._fail("expected '}'", self.at)
        self.at += 1
        return options

    def _value(self, text: str, type_: Any, at: int) -> Any:
        legal = typing.get_args(type_) or ((True, False) if type_ is bool else ())
        for value in legal:
            if str(value).lower() == text.lower():
                return value
        if legal:
            hint = nearest_or_list(text, [str(value).lower() for value in legal])
            self._fail(f"illegal value {quoted(text)}", at, hint)
        try:
            return type_(text)
        except ValueError:
            self._fail(f"expected {type_.__name__}, got {quoted(text)}", at)

    def _fail(self, message: str, at: int, help: str | None = None) -> NoReturn:
        where = Where("--pipeline", 1, at + 1, snippet=self.text)
        raise UsageError(Diagnostic("pipeline-syntax", message, where, help=help))
