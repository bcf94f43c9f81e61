"""Tensors in files that people give: their headers, and their data where it is asked for.

`.npy` and `.npz` as numpy writes them, `.safetensors`, and folders of these. Headers alone are
read at first; data is mapped into memory, so that a block of a tensor costs what it holds.
"""

from __future__ import annotations

import struct
import tokenize
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import ml_dtypes  # noqa: F401  (numpy then knows the names of its types)
import numpy as np

from hlopass.diagnostics import Diagnostic, HlopassError, Where

Array = np.ndarray[Any, Any]

SUFFIXES = (".npy", ".npz", ".safetensors")
LEGAL = "legal: a file .npy, .npz or .safetensors, or a folder of these"

_SAFETENSORS = {"F64": "float64", "F32": "float32", "F16": "float16", "BF16": "bfloat16"}
_SAFETENSORS |= {f"I{bits}": f"int{bits}" for bits in (8, 16, 32, 64)}
_SAFETENSORS |= {f"U{bits}": f"uint{bits}" for bits in (8, 16, 32, 64)}
_SAFETENSORS |= {"BOOL": "bool", "C64": "complex64"}
_SAFETENSORS |= {"F8_E4M3": "float8_e4m3fn", "F8_E5M2": "float8_e5m2"}
_BROKEN: tuple[type[Exception], ...] = (
    *(ArithmeticError, EOFError, KeyError, RuntimeError, SyntaxError, TypeError, ValueError),
    *(struct.error, tokenize.TokenError, zipfile.BadZipFile, zlib.error),
)
"""What Python, numpy and zipfile raise for files that are not what they should be."""

_LOCAL_HEADER = struct.Struct("<26xHH")
"""Of a member of a zip file: the lengths of its name and its extra field, after 26 bytes."""


@dataclass(frozen=True)
class Stored:
    """A tensor in a file, as its header says; `open` gives what blocks can be taken of.

    `dtype`: None where numpy has no such type, and `written` is its name in the file. `whole`:
    it cannot be read in parts, as it is compressed.
    """

    name: str
    where: Where
    shape: tuple[int, ...]
    dtype: np.dtype[Any] | None
    written: str
    open: Callable[[], Any]
    whole: bool = False


def tensors(path: str) -> list[Stored]:
    """The tensors of a file, or of the files in a folder; only headers are read.

    Those of a `.npy` are called as the file without its suffix, from the folder that was given
    on; others as their file says. Raises HlopassError where one cannot be read.
    """
    where, given = Where(path), Path(path)
    with reading(where):
        if not given.is_dir():
            return list(_of_file(given, given.stem))
        files = sorted(each for each in given.rglob("*") if each.suffix in SUFFIXES)
        if not files:
            message = "the folder holds no tensors"
            raise HlopassError(Diagnostic("input-file", message, where, help=LEGAL))
        return [
            stored
            for file in files
            for stored in _of_file(file, file.relative_to(given).with_suffix("").as_posix())
        ]


def _of_file(path: Path, name: str) -> Iterator[Stored]:
    if path.suffix == ".npy":
        with reading(Where(str(path))), path.open("rb") as file:
            yield _npy(name, path, Where(str(path)), file, path.stat().st_size)
    elif path.suffix == ".npz":
        yield from _npz(path)
    elif path.suffix == ".safetensors":
        yield from _safetensors(path)
    else:
        path.stat()
        message = "a file of this kind gives no inputs"
        raise HlopassError(Diagnostic("input-file", message, Where(str(path)), help=LEGAL))


class reading:  # noqa: N801
    """A context in which what goes wrong with a file becomes an HlopassError."""

    def __init__(self, where: Where) -> None:
        self.where = where

    def __enter__(self) -> None:
        return None

    def __exit__(self, _: Any, error: BaseException | None, __: Any) -> None:
        if error is None or isinstance(error, HlopassError):
            return
        if isinstance(error, OSError):
            missing = isinstance(error, FileNotFoundError)
            message = f"cannot read the file: {(error.strerror or str(error)).lower()}"
            code = "file-not-found" if missing else "file-read"
            raise HlopassError(Diagnostic(code, message, self.where)) from None
        if isinstance(error, _BROKEN) or type(error).__name__ == "SafetensorError":
            reason = str(error).splitlines()[0] if str(error) else type(error).__name__
            message = f"the file is damaged, or not what its name says: {_lower(reason)}"
            raise HlopassError(Diagnostic("input-corrupt", message, self.where)) from None


def _lower(reason: str) -> str:
    reason = reason.rstrip(". ")[:200]
    return reason[:1].lower() + reason[1:] if reason[1:2].islower() else reason


def _npy(name: str, path: Path, where: Where, file: IO[bytes], size: int, at: int = 0) -> Stored:
    """The tensor of a `.npy` that begins at a byte of a file, `size` bytes long."""
    shape, fortran, dtype, length = _header(file, where)
    need = length + dtype.itemsize * int(np.prod(shape, dtype=object))
    if need > size:
        message = f"it holds {size} bytes, and its header promises {need}"
        raise HlopassError(Diagnostic("input-corrupt", message, where))
    order: Any = "F" if fortran else "C"

    def mapped() -> Any:
        with reading(where):
            if 0 in shape:
                return np.empty(shape, dtype)
            return np.memmap(path, dtype, "r", at + length, shape, order)

    return Stored(name, where, shape, dtype, dtype.name, mapped)


def _header(file: IO[bytes], where: Where) -> tuple[tuple[int, ...], bool, np.dtype[Any], int]:
    """Shape, whether in Fortran's order, type, and length of the header of a `.npy`.

    Objects are refused: to read them would run what the file says.
    """
    version = np.lib.format.read_magic(file)
    if version == (1, 0):
        shape, fortran, dtype = np.lib.format.read_array_header_1_0(file)
    elif version in ((2, 0), (3, 0)):  # 3.0 is 2.0 with names that are no Latin-1
        shape, fortran, dtype = np.lib.format.read_array_header_2_0(file)
    else:
        raise ValueError(f"version {version} of the format is not known")
    if dtype.hasobject:
        message = "it holds Python objects, which are not read: they could run any code"
        raise HlopassError(Diagnostic("input-object", message, where))
    return shape, fortran, dtype, file.tell()


def _npz(path: Path) -> Iterator[Stored]:
    """The members of a `.npz`: those that are not compressed are mapped where they lie."""
    with reading(Where(str(path))), zipfile.ZipFile(path) as archive:
        for info in archive.infolist():
            where = Where(str(path), pointer=info.filename.removesuffix(".npy"))
            if not info.filename.endswith(".npy"):
                message = "it is no array of numpy's"
                raise HlopassError(Diagnostic("input-corrupt", message, where))
            with reading(where), archive.open(info) as member:
                yield _member(path, info, where, member)


def _member(path: Path, info: zipfile.ZipInfo, where: Where, member: IO[bytes]) -> Stored:
    name = info.filename.removesuffix(".npy")
    if info.compress_type == zipfile.ZIP_STORED:
        with path.open("rb") as file:
            file.seek(info.header_offset)
            name_length, extra = _LOCAL_HEADER.unpack(file.read(_LOCAL_HEADER.size))
        at = info.header_offset + _LOCAL_HEADER.size + name_length + extra
        return _npy(name, path, where, member, info.file_size, at)
    shape, fortran, dtype, length = _header(member, where)

    def unpacked() -> Any:
        with reading(where), zipfile.ZipFile(path) as archive, archive.open(info) as packed:
            packed.read(length)
            data = packed.read()
            return np.frombuffer(data, dtype).reshape(shape, order="F" if fortran else "C")

    return Stored(name, where, shape, dtype, dtype.name, unpacked, whole=True)


def _safetensors(path: Path) -> Iterator[Stored]:
    try:
        import safetensors
    except ImportError:
        message = "the package safetensors, which reads this file, is not installed"
        hint = "pip install 'hlopass[safetensors]'"
        where = Where(str(path))
        raise HlopassError(Diagnostic("input-library", message, where, help=hint)) from None
    path.stat()
    with reading(Where(str(path))), safetensors.safe_open(path, framework="numpy") as file:
        for name in file.keys():  # noqa: SIM118
            where = Where(str(path), pointer=name)
            header = file.get_slice(name)
            written, shape = str(header.get_dtype()), tuple(header.get_shape())
            known = _SAFETENSORS.get(written)
            dtype = None if known is None else np.dtype(known)
            yield Stored(name, where, shape, dtype, written, _sliced(path, name, shape, where))


def _sliced(path: Path, name: str, shape: tuple[int, ...], where: Where) -> Callable[[], Any]:
    def opened() -> Any:
        import safetensors

        with reading(where):
            file: Any = safetensors.safe_open(path, framework="numpy")
            return file.get_tensor(name) if 0 in shape or not shape else file.get_slice(name)

    return opened
