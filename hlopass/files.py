"""Reading whole files, and writing them whole or not at all."""

from __future__ import annotations

import contextlib
import os
import signal
import stat
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from hlopass.diagnostics import Diagnostic, HlopassError, Where, quoted

STANDARD = "-"
"""The name of standard input and output."""


def shown(path: Path | str) -> str:
    """What to call a file to read in diagnostics: its path as text, or `<stdin>` for `-`."""
    if str(path) == STANDARD:
        return "<stdin>"
    return str(path).encode(errors="backslashreplace").decode()


def read_bytes(path: Path | str) -> bytes:
    """The bytes of a file, or of standard input for `-`.

    Raises HlopassError where it is missing, a directory, or cannot be read.
    """
    if str(path) == STANDARD:
        if sys.stdin is None:
            message = "standard input is closed"
            raise HlopassError(Diagnostic("file-read", message, Where(shown(path))))
        return sys.stdin.buffer.read()
    try:
        return Path(path).read_bytes()
    except (OSError, ValueError) as error:
        raise HlopassError(_cannot("read", path, error)) from None


def write_whole(path: Path | str, data: bytes) -> None:
    """Writes a file by renaming a complete one over it, or standard output for `-`.

    A link is followed; the mode of a file that was there is kept. Raises HlopassError, and
    leaves what was there, where that fails.
    """
    if str(path) == STANDARD:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        return
    try:
        if Path(path).exists() and not Path(path).is_file():
            _write_in_place(Path(path), data)
        else:
            _replace(Path(os.path.realpath(path)), data)
    except (OSError, ValueError) as error:
        raise HlopassError(_cannot("write", path, error)) from None


def _write_in_place(target: Path, data: bytes) -> None:
    """For what cannot be renamed over, such as /dev/null or a pipe."""
    with target.open("wb") as file:
        file.write(data)


def _replace(target: Path, data: bytes) -> None:
    with _uninterrupted(), _temporary_beside(target) as (descriptor, temporary):
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            os.fchmod(file.fileno(), _mode(target))
        os.replace(temporary, target)


@contextlib.contextmanager
def _uninterrupted() -> Iterator[None]:
    """Holds back signals that would leave a half file behind."""
    held = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGALRM}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, held)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextlib.contextmanager
def _temporary_beside(target: Path) -> Iterator[tuple[int, str]]:
    """A new file next to `target`, gone at the end unless it was renamed."""
    name = str(target.parent / f".{target.name[:40]}.{os.getpid()}-{time.monotonic_ns()}")
    descriptor = os.open(name, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        yield descriptor, name
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name)


def _mode(target: Path) -> int:
    with contextlib.suppress(FileNotFoundError):
        return stat.S_IMODE(target.stat().st_mode)
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def _cannot(verb: str, path: Path | str, error: OSError | ValueError) -> Diagnostic:
    reason = (error.strerror or str(error)) if isinstance(error, OSError) else str(error)
    codes: dict[type[Exception], str] = {
        FileNotFoundError: "file-not-found",
        IsADirectoryError: "file-is-directory",
        PermissionError: "file-not-permitted",
    }
    code = codes.get(type(error), f"file-{verb}")
    message = f"cannot {verb} the file: {reason[:1].lower()}{reason[1:]}"
    folder = Path(path).parent
    if isinstance(error, FileNotFoundError) and not folder.is_dir():
        message += f": there is no folder {quoted(str(folder))}"
    return Diagnostic(code, message, Where(str(path) or "''"))
