"""Inputs that were given, brought together with a program's arguments by name and type.

Files are opened for their headers; no value is read before `Input.open` is called.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import ml_dtypes
import numpy as np

from hlopass.diagnostics import Diagnostic, HlopassError, Where, nearest_or_list, quoted
from hlopass.proof import inputs, tensor_files
from hlopass.proof.bound import Bound, Input, Resident
from hlopass.proof.given import Given, Kind
from hlopass.proof.tensor_files import Stored
from hlopass.values import Value, select

Array = np.ndarray[Any, Any]


def bind(
    arguments: Sequence[Value],
    given: Sequence[Given],
    label: str,
    *,
    rest: Kind | None = "made-up",
    seed: int = 0,
    arrays: Path = Path(),
    residents: Mapping[int, Resident] = MappingProxyType({}),
) -> Bound:
    """An input for each argument: what was given for it, otherwise one of the kind `rest`.

    Without `rest` it is only checked what was given, and there are no inputs. `arrays`: the
    folder of what Python gave; `residents`: what is on the devices, by number. Raises
    HlopassError with everything that names no argument, gives one twice, or has another type.
    """
    binder = _Binder(arguments, label, seed, arrays, residents)
    for each in given:
        if each.argument is None and each.kind is not None:
            rest = rest and each.kind
            binder.silent = True
        else:
            binder.take(each)
    return binder.bound(rest)


class _Binder:
    def __init__(
        self,
        arguments: Sequence[Value],
        label: str,
        seed: int,
        arrays: Path,
        residents: Mapping[int, Resident],
    ) -> None:
        self.arguments = arguments
        self.label = label
        self.seed = seed
        self.arrays = arrays
        self.residents = residents
        self.taken: dict[int, Input] = {}
        self.wrong: list[Diagnostic] = []
        self.silent = False

    def take(self, given: Given) -> None:
        """Gives arguments what a person says; keeps what is wrong with it."""
        try:
            for argument, source in self._pairs(given):
                self._give(argument, source, given)
        except HlopassError as error:
            self.wrong += error.diagnostics

    def _pairs(self, given: Given) -> Iterator[tuple[Value, Stored | Kind | None]]:
        """The arguments that are meant, each with a tensor of a file, a kind, or an array."""
        where = Where(given.said)
        stored = None if given.path is None else self._stored(given)
        if given.argument is not None:
            source = stored[0] if stored else given.kind
            found = select(given.argument, self.arguments, "argument", where)
            yield from ((argument, source) for argument in found.values)
            return
        for each in stored or ():
            argument = self._named(each, alone=len(stored or ()) == 1)
            if argument is not None:
                yield argument, each

    def _stored(self, given: Given) -> list[Stored]:
        """The tensors that are meant of a file; one, where an argument or a tensor is named."""
        assert given.path is not None
        found = tensor_files.tensors(given.path)
        if given.member is not None:
            names = [each.name for each in found]
            found = [each for each in found if each.name == given.member]
            if not found:
                message = f"the file holds no tensor {quoted(given.member)}"
                hint = nearest_or_list(given.member, names)
                raise HlopassError(
                    Diagnostic("input-unknown", message, Where(given.path), help=hint)
                )
        if len(found) != 1 and (given.argument is not None or given.member is not None):
            message = f"the file holds {len(found)} tensors, and one is needed"
            hint = f"name it: {given.path}#NAME"
            raise HlopassError(Diagnostic("input-many", message, Where(given.path), help=hint))
        return found

    def _named(self, stored: Stored, alone: bool) -> Value | None:
        """The argument that a tensor's name means: a name, an index, or numpy's `arr_0`."""
        name = stored.name
        named = [each for each in self.arguments if each.name == name]
        digits = name.removeprefix("arr_")
        if not named and digits.isdecimal() and len(digits) < 10:
            named = [each for each in self.arguments if each.index == int(digits)]
        if not named and alone and len(self.arguments) == 1:
            named = list(self.arguments)
        if len(named) == 1:
            return named[0]
        message = f"{quoted(name)} is the name of no argument"
        names = [each.name for each in self.arguments if each.name is not None]
        hint = nearest_or_list(name, names) if names else "the arguments have no names: use indices"
        if named:
            indices = ", ".join(str(each.index) for each in named)
            message = f"{len(named)} arguments are called {quoted(name)}: {indices}"
            hint = "say which by its index"
        self.wrong.append(Diagnostic("input-unknown", message, stored.where, help=hint))
        return None

    def _give(self, argument: Value, source: Stored | Kind | None, given: Given) -> None:
        """Gives one argument its input, if it has none and the types agree."""
        before = self.taken.get(argument.index)
        if isinstance(source, Stored):
            found = self._of_stored(argument, source)
        elif given.tensor is not None:
            found = self._of_resident(argument, given)
        elif source is None:
            found = self._of_array(argument, given)
        else:
            found = self._of_kind(argument, source)
            found = found and replace(found, said=given.said, given=True)
        if before is not None:
            message = f"{argument} is given two inputs"
            said = given.said if found is None else found.said
            notes = (f"one is {before.said}", f"the other is {said}")
            self.wrong.append(Diagnostic("input-twice", message, Where(self.label), notes=notes))
        elif found is not None:
            self.taken[argument.index] = found

    def _of_stored(self, argument: Value, stored: Stored) -> Input | None:
        wanted = self._wanted(argument)
        if wanted is None:
            return None
        shape, dtype = wanted
        if stored.shape != shape or not _accepts(dtype, stored.dtype):
            self._differs(argument, shape, dtype, stored.written, stored.shape, stored.where)
            return None
        said = str(stored.where)
        return Input(argument, shape, dtype, said, stored.open, True, stored.whole)

    def _of_array(self, argument: Value, given: Given) -> Input | None:
        wanted = self._wanted(argument)
        if wanted is None or given.array is None or given.dtype is None:
            return None
        shape, dtype = wanted
        have = inputs.dtype_named(given.dtype)
        weak = given.weak and shape == () and (have.kind != "c" or dtype.kind == "c")
        weak = weak and not (have.kind == "f" and _is_integer(dtype))
        if given.shape != shape or not (weak or _accepts(dtype, have)):
            self._differs(argument, shape, dtype, have.name, given.shape, Where(given.said))
            return None
        path = self.arrays / given.array

        def mapped() -> Any:
            data = np.empty(shape, have) if 0 in shape else np.memmap(path, have, "r", 0, shape)
            return data.astype(dtype) if weak and have != dtype else data

        return Input(argument, shape, dtype, given.said, mapped, True)

    def _of_resident(self, argument: Value, given: Given) -> Input | None:
        """What is on the devices, unless it was given away."""
        assert given.tensor is not None
        tensor = self.residents[given.tensor]
        if tensor.gone is not None:
            message = f"the input of {argument} is gone: {tensor.gone}"
            hint = "a donated tensor is used once; a result of the run holds its buffer"
            self.wrong.append(Diagnostic("input-gone", message, Where(given.said), help=hint))
            return None
        shape, dtype = self._wanted(argument) or (tensor.shape, tensor.dtype)
        if (shape, dtype) != (tensor.shape, tensor.dtype):
            name, where = tensor.dtype.name, Where(given.said)
            self._differs(argument, shape, dtype, name, tensor.shape, where)
            return None
        return Input(argument, shape, dtype, given.said, tensor.open, True, there=tensor.there)

    def _of_kind(self, argument: Value, kind: Kind) -> Input | None:
        wanted = self._wanted(argument)
        if wanted is None:
            return None
        shape, dtype = wanted
        if kind == "placeholder" and not argument.type.endswith(".token"):
            return Input(argument, shape, dtype, kind, None)
        if kind == "zeros":
            zero = np.zeros((), dtype)
            return Input(argument, shape, dtype, kind, lambda: np.broadcast_to(zero, shape))
        return Input(argument, shape, dtype, kind, lambda: inputs.made(argument, self.seed))

    def _wanted(self, argument: Value) -> tuple[tuple[int, ...], np.dtype[Any]] | None:
        shape, dtype = inputs.shape_and_dtype(argument)
        if shape is not None and dtype is not None:
            return shape, dtype
        self.wrong.append(inputs.cannot_make_up(argument, self.label))
        return None

    def _differs(
        self,
        argument: Value,
        shape: tuple[int, ...],
        dtype: np.dtype[Any],
        written: str,
        has: tuple[int, ...],
        where: Where,
    ) -> None:
        """Says that an input is of another type or shape than its argument."""
        what = "type" if shape == has else "shape"
        message = f"the input of {argument} has another {what}"
        notes = (
            f"{argument} is {argument.type}: {dtype.name} of shape {list(shape)}",
            f"the input is {written} of shape {list(has)}",
        )
        hint = f"legal: {dtype.name} of shape {list(shape)}"
        code = "input-type" if what == "type" else "input-shape"
        self.wrong.append(Diagnostic(code, message, where, notes=notes, help=hint))

    def bound(self, rest: Kind | None) -> Bound:
        """All inputs; raises HlopassError where anything is wrong."""
        left = [each for each in self.arguments if each.index not in self.taken]
        others = {each.index: self._of_kind(each, rest) for each in left if rest is not None}
        if self.wrong:
            raise HlopassError(self.wrong)
        if rest is None:
            return Bound()
        found = self.taken | {at: each for at, each in others.items() if each is not None}
        bound = Bound([found[each.index] for each in self.arguments])
        if self.taken and left and rest == "made-up" and not self.silent:
            shown = ", ".join(map(str, left[:4])) + ", and more" * (len(left) > 4)
            message = f"values are made up for {len(left)} of {len(self.arguments)} arguments"
            hint = "give them too, or say --inputs made-up"
            warning = Diagnostic(
                "inputs-made-up", message, Where(self.label), "warning", (shown,), hint
            )
            bound.warnings.append(warning)
        return bound


def _accepts(wanted: np.dtype[Any], has: np.dtype[Any] | None) -> bool:
    """Whether elements are of the type; `.npy` holds those of ml_dtypes as bytes without one."""
    if has is None:
        return False
    nameless = has.kind == "V" and has.names is None and has.subdtype is None
    if nameless and has.isbuiltin != 2:
        return hasattr(ml_dtypes, wanted.name) and has.itemsize == wanted.itemsize
    return has.newbyteorder("=") == wanted


def _is_integer(dtype: np.dtype[Any]) -> bool:
    return dtype.kind in "biu" or dtype.name.startswith(("int", "uint"))
