"""The parent's end of a process that stays: it is asked, and leaves nothing behind."""

from __future__ import annotations

import contextlib
import os
import select
import shutil
import signal
import subprocess
import tempfile
import threading
import time
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import msgspec

from hlopass.diagnostics import CompilerDied, Diagnostic, HlopassError, Where
from hlopass.proof import exchange, run
from hlopass.proof.given import Given, Held
from hlopass.proof.observation import Job
from hlopass.proof.talk import Ask, Reply
from hlopass.report import restored

Progress = Callable[[str], None] | None
_POLL = 0.1
"""Seconds between looks at the child's stage."""


class Link:
    """A child process with one compiled program.

    It ends with `close`, when this object is collected, with this process, and at an interrupt:
    what is asked then has no answer any more.
    """

    def __init__(self, data: bytes, job: Job, timeout: float | None, progress: Progress) -> None:
        self._lock = threading.RLock()
        self._buffer = b""
        self._owner = os.getpid()
        self.freed: list[int] = []
        self.dead: str | None = None
        self.job = self._start(data, job)
        try:
            self.first = self._reply(timeout, progress)
        except BaseException:
            self.close()
            raise

    def _start(self, data: bytes, job: Job) -> Job:
        folders = []
        try:
            self.folder = Path(tempfile.mkdtemp(prefix="hlopass-"))
            folders.append(self.folder)
            self.memory = self.folder
            if exchange.roomy(0):
                self.memory = Path(tempfile.mkdtemp(prefix="hlopass-", dir=exchange.MEMORY))
                folders.append(self.memory)
            job = msgspec.structs.replace(
                job, arrays=str(self.folder), memory=str(self.memory), stays=True
            )
            (self.folder / "job.json").write_bytes(msgspec.json.encode(job))
            (self.folder / "module").write_bytes(data)
            (self.folder / "stage").touch()
            errors = (self.folder / "stderr").open("wb")
        except OSError as error:
            _remove(folders)
            _no_folder(error)
        asked, self._asks = os.pipe()
        self._replies, answers = os.pipe()
        with errors:
            self._child = subprocess.Popen(
                [*run.COMMAND, str(self.folder), str(asked), str(answers)],
                stdin=subprocess.PIPE,
                stdout=errors,
                stderr=errors,
                env=run.environment(job),
                start_new_session=True,
                pass_fds=(asked, answers),
            )
        os.close(asked)
        os.close(answers)
        ends = (self._asks, self._replies)
        self._end = weakref.finalize(self, _end, self._owner, self._child, ends, folders)
        return job

    def ask(
        self, ask: Ask, held: Held, timeout: float | None = None, progress: Progress = None
    ) -> Reply:
        """The answer to a request. Raises HlopassError where it is refused, CompilerDied where
        the child is gone, or runs out of time, which ends it.
        """
        with self._lock:
            self._check()
            freed, self.freed = tuple(self.freed), []
            ask = msgspec.structs.replace(ask, free=freed)
            written: list[Path] = []
            try:
                given = self._written(held, written)
                ask = msgspec.structs.replace(ask, inputs=given)
                self._send(msgspec.json.encode(ask) + b"\n")
                return self._reply(timeout, progress)
            except OSError as error:
                _no_folder(error)
            except HlopassError as error:
                if isinstance(error, CompilerDied):
                    self.close(error.diagnostics[0].message)
                raise
            except BaseException:
                self.close("it was interrupted")
                raise
            finally:
                for path in written:
                    path.unlink(missing_ok=True)

    def _check(self) -> None:
        if self.dead is None and os.getpid() == self._owner:
            return
        why = self.dead or "it belongs to another process"
        message = f"the compiled program cannot be used any more: {why}"
        raise HlopassError(Diagnostic("compiled-closed", message, Where(self.job.label)))

    def _written(self, held: Held, written: list[Path]) -> tuple[Given, ...]:
        """What was given, its arrays written where there is room for them."""
        folder = self.memory if exchange.roomy(held.bytes, self.memory) else self.folder
        found = []
        for each in held.given:
            if each.array is not None:
                path = folder / each.array
                written.append(path)
                exchange.write(held.arrays[each.array], path)
                each = msgspec.structs.replace(each, array=str(path))
            found.append(each)
        return tuple(found)

    def _send(self, line: bytes) -> None:
        with contextlib.suppress(BrokenPipeError):  # the reply says that the child is gone
            while line:
                line = line[os.write(self._asks, line) :]

    def _reply(self, timeout: float | None, progress: Progress) -> Reply:
        """The next line of the child's; raises what it holds of errors."""
        end = None if timeout is None else time.monotonic() + timeout
        told = ""
        while b"\n" not in self._buffer:
            stage = run.stage_of(self.folder) if progress is not None else ""
            if progress is not None and stage != told:
                progress(stage)
                told = stage
            if select.select([self._replies], [], [], _POLL)[0]:
                data = os.read(self._replies, 1 << 16)
                if not data:
                    raise self._death()
                self._buffer += data
            elif end is not None and time.monotonic() > end:
                raise run.out_of_time(self.job.label, timeout, run.stage_of(self.folder))
        line, _, self._buffer = self._buffer.partition(b"\n")
        reply = msgspec.json.decode(line, type=Reply)
        if reply.diagnostics:
            raise HlopassError(restored(each) for each in reply.diagnostics)
        return reply

    def _death(self) -> HlopassError:
        error = run.death(self.folder, self.job, self._child.wait())
        self.close(error.diagnostics[0].message)
        return error

    def close(self, why: str = "it was closed") -> None:
        """Ends the child, and removes what it left; once is enough."""
        if os.getpid() == self._owner:
            self.dead = self.dead or why
            self._end()


def _end(
    owner: int, child: subprocess.Popen[bytes], ends: tuple[int, int], folders: list[Path]
) -> None:
    """Ends a child of this process; a fork of the process leaves it alone."""
    if os.getpid() != owner:
        return
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()
    assert child.stdin is not None
    child.stdin.close()
    for end in ends:
        os.close(end)
    _remove(folders)


def _remove(folders: list[Path]) -> None:
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)


def _no_folder(error: OSError) -> NoReturn:
    message = f"cannot write to the temporary folder: {error.strerror or error}"
    raise HlopassError(Diagnostic("temporary-folder", message)) from None
