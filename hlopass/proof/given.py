"""What people give as inputs, before it meets a program: plain data that crosses as JSON.

Nothing is read here but what Python holds already: its arrays are written to files, which the
process that runs the program maps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import msgspec

from hlopass.diagnostics import Diagnostic, HlopassError
from hlopass.proof import exchange

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

Kind = Literal["made-up", "zeros", "placeholder"]
KINDS: tuple[Kind, ...] = get_args(Kind)

LEGAL = (
    "legal: a path, made-up, zeros or placeholder, a mapping from names or indices to these or "
    "to arrays, or a sequence of them"
)


class Given(msgspec.Struct, frozen=True):
    """Where the values of some arguments come from.

    `argument`: an index, a name or a pattern; None for what the file's names mean, or for all
    that nothing else gives. `path`, `member`: a file, and a tensor in it. `array`: the file that
    holds an array's bytes, of `dtype` and `shape`; `weak`: it was a number of Python's, which
    takes the argument's type. `tensor`: the number of one that is on the devices. `said`: what to
    call it.
    """

    said: str
    argument: int | str | None = None
    kind: Kind | None = None
    path: str | None = None
    member: str | None = None
    array: str | None = None
    dtype: str | None = None
    shape: tuple[int, ...] = ()
    weak: bool = False
    tensor: int | None = None


class Held(msgspec.Struct, frozen=True):
    """What was given, and the arrays of Python's among it, by the name of their file."""

    given: tuple[Given, ...] = ()
    arrays: dict[str, Any] = {}

    @property
    def bytes(self) -> int:
        """The bytes of all arrays."""
        return sum(each.nbytes for each in self.arrays.values())

    def write(self, folder: Path) -> None:
        """Writes the arrays into a folder, each as its bytes."""
        for name, array in self.arrays.items():
            exchange.write(array, folder / name)


def of_options(options: Sequence[str]) -> Held:
    """What `--inputs` says: [NAME=]SOURCE, where SOURCE is a file, or FILE#TENSOR, or a kind."""
    return Held(tuple(_of_option(each) for each in options))


def _of_option(option: str) -> Given:
    said = f"--inputs {option}"
    if option not in KINDS and not Path(option).exists() and "=" in option:
        name, _, source = option.rpartition("=")
        return _of_source(source, said, int(name) if name.isdecimal() else name)
    return _of_source(option, said, None)


def _of_source(source: str, said: str, argument: int | str | None) -> Given:
    for kind in KINDS:
        if source == kind:
            return Given(said, argument, kind=kind)
    path, _, member = source.rpartition("#")
    if path and not Path(source).exists():
        return Given(said, argument, path=path, member=member)
    return Given(said, argument, path=source)


def of_python(
    inputs: Any, prefix: str = "array", tensor: Callable[[Any], int | None] = lambda _: None
) -> Held:
    """What `inputs=` says. `prefix` begins the names of the files that arrays go to.

    `tensor`: the number of a value that is on the devices already. Raises HlopassError for what
    gives no values.
    """
    held = Held((), {})
    if inputs is None:
        return held
    if isinstance(inputs, (str, Path)):
        return Held((_of_source(str(inputs), "inputs", None),))
    if isinstance(inputs, Mapping):
        pairs = [leaf for key, value in inputs.items() for leaf in _leaves(key, value)]
    elif isinstance(inputs, Sequence):
        pairs = [(at, value, f"inputs[{at}]") for at, value in enumerate(inputs)]
    else:
        message = f"cannot take inputs from {type(inputs).__name__}"
        raise HlopassError(Diagnostic("input-source", message, help=LEGAL))
    given = [
        _of_value(key, value, said, f"{prefix}{at}", held, tensor(value))
        for at, (key, value, said) in enumerate(pairs)
        if value is not None
    ]
    return Held(tuple(given), held.arrays)


def _leaves(name: Any, value: Any) -> Iterator[tuple[Any, Any, str]]:
    """A value by its name; of a tree, each leaf, called as JAX calls it: `state['w'][0].m`."""
    if isinstance(name, str):
        if isinstance(value, Mapping):
            for key, each in value.items():
                yield from _leaves(f"{name}[{key!r}]", each)
            return
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            for field, each in zip(value._fields, value, strict=True):
                yield from _leaves(f"{name}.{field}", each)
            return
        if isinstance(value, (list, tuple)) and not all(map(_is_number, value)):
            for at, each in enumerate(value):
                yield from _leaves(f"{name}[{at}]", each)
            return
    yield name, value, f"inputs[{name!r}]"


def _is_number(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return all(map(_is_number, value))
    return isinstance(value, (bool, int, float, complex))


def _of_value(key: Any, value: Any, said: str, file: str, held: Held, tensor: int | None) -> Given:
    if not isinstance(key, (int, str)) or isinstance(key, bool):
        message = f"{key!r} is no argument"
        hint = "legal: an index, a name or a pattern"
        raise HlopassError(Diagnostic("input-source", message, help=hint))
    if isinstance(value, (str, Path)):
        return _of_source(str(value), said, key)
    if tensor is not None:
        return Given(said, key, tensor=tensor)
    array = _array(value, said)
    held.arrays[file] = array
    weak = type(value) in (bool, int, float, complex)
    return Given(said, key, array=file, dtype=array.dtype.name, shape=tuple(array.shape), weak=weak)


def _array(value: Any, said: str) -> Array:
    """What numpy makes of a value; an array is taken as it is."""
    import numpy as np

    try:
        array = np.asarray(value)
    except (TypeError, ValueError, RuntimeError) as error:
        message = f"{said} is no array: {str(error).splitlines()[0]}"
        raise HlopassError(Diagnostic("input-source", message, help=LEGAL)) from None
    if array.dtype.hasobject or array.dtype.names is not None or array.dtype.kind in "SUMm":
        message = f"{said} holds {array.dtype.name}: legal are numbers and booleans"
        raise HlopassError(Diagnostic("input-source", message, help=LEGAL))
    return array.astype(array.dtype.newbyteorder("="), copy=False)
