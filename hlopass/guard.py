"""Runs the command line in a process of its own, so that a crash in C++ is a sentence.

Parsing alone can kill a process. The parent has loaded no compiler, and little else: it
waits, and says what happened.
"""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import sys
from collections.abc import Callable, Iterator
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from hlopass.diagnostics import Diagnostic, Where

_RELAYED = (signal.SIGTERM, signal.SIGHUP)
_ENDING = (*_RELAYED, signal.SIGINT)


def guarded(body: Callable[[], int]) -> int:
    """The exit status of `body`, run in a forked child; 4 where a signal ended it.

    What C++ prints to the child's standard error is kept back; its last sentence becomes a
    note where the child dies.
    """
    if not hasattr(os, "fork") or sys._xoptions:
        return body()
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()
    with _scratch() as chatter:
        signal.pthread_sigmask(signal.SIG_BLOCK, _ENDING)
        child = os.fork()
        if child == 0:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, _ENDING)
            _run_child(body, chatter)
        status = _wait(child)
        if not os.WIFSIGNALED(status):
            return os.WEXITSTATUS(status)
        number = os.WTERMSIG(status)
        if number in _ENDING:
            if number == signal.SIGINT:
                print("interrupted", file=sys.stderr)
            return 128 + number
        chatter.seek(0)
        return _report(died(number, chatter.read()))


def _report(finding: Diagnostic) -> int:
    """Prints why the child died; returns the exit status that says so."""
    from hlopass.diagnostics import CompilerDied, render

    print(render(finding), file=sys.stderr)
    return CompilerDied.exit_status


def _scratch() -> IO[bytes]:
    """A file that has no name; in memory where that is possible, which is faster to open."""
    if hasattr(os, "memfd_create"):
        return os.fdopen(os.memfd_create("hlopass"), "w+b")
    import tempfile

    return tempfile.TemporaryFile()


def _run_child(body: Callable[[], int], chatter: IO[bytes]) -> None:
    """Runs `body` with C's standard error kept back and Python's where it was; never returns.

    The process is short: garbage that is not collected costs nothing. An interrupt ends it at
    once, as an exception in the middle of C++ would crash it.
    """
    status = 1
    try:
        sys.stderr = os.fdopen(os.dup(2), "w", buffering=1, errors="backslashreplace")
        os.dup2(chatter.fileno(), 2)
        gc.disable()
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        _end_with_parent()
        status = body()
    finally:
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError):
                stream.flush()
        os._exit(status)


def _end_with_parent() -> None:
    """Has the kernel end this process when its parent is killed, and leave no core file."""
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    if sys.platform == "linux":
        import ctypes

        parent_death_signal = 1  # PR_SET_PDEATHSIG, see prctl(2)
        ctypes.CDLL(None).prctl(parent_death_signal, signal.SIGKILL)


def _wait(child: int) -> int:
    """The child's wait status; signals that ask this process to end go to the child."""

    def relay(number: int, _: object) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, number)

    for number in _ENDING:
        signal.signal(number, relay)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _ENDING)
    return os.waitpid(child, 0)[1]


def died(
    number: int, chatter: bytes, stage: str = "reading the module", where: Where | None = None
) -> Diagnostic:
    """A sentence for a process that a signal ended, with its own last words as a note."""
    from hlopass.diagnostics import Diagnostic

    if number == signal.SIGALRM:
        message = f"the time limit ran out while {stage}"
        return Diagnostic("time-limit", message, where, help="give it more with --timeout")
    if any(word in chatter for word in _NO_MEMORY):
        return out_of_memory(stage, where)
    name = signal.Signals(number).name
    message = f"the compiler crashed with {name} while {stage}"
    return Diagnostic("compiler-crashed", message, where, notes=last_words(chatter))


_NO_MEMORY = (b"bad_alloc", b"out of memory", b"Out of memory", b"Cannot allocate memory")
_GRACE = 3.0


def out_of_memory(stage: str, where: Where | None = None) -> Diagnostic:
    """What is said where a process may have no more memory."""
    from hlopass.diagnostics import Diagnostic

    message = f"the memory ran out while {stage}"
    return Diagnostic("memory-limit", message, where, help="give it more with --max-memory")


def limit_memory(size: int) -> None:
    """Limits the bytes of data that this process and its children may each have."""
    import resource

    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    most = size if hard == resource.RLIM_INFINITY else min(size, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (most, hard))


@contextlib.contextmanager
def time_limit(seconds: float | None) -> Iterator[None]:
    """Has a signal end this process, in C++ too, a little after a time limit.

    What has a process of its own with the same limit ends before, and says more.
    """
    if seconds is None or not hasattr(signal, "setitimer"):
        yield
        return
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, min(seconds + _GRACE, 1e8))
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def last_words(chatter: bytes) -> tuple[str, ...]:
    """The last line of C++'s that says why it aborts, without its stack trace."""
    for line in reversed(chatter.decode(errors="replace").splitlines()):
        for mark in ("LLVM ERROR:", "Check failed:", "Assertion "):
            if mark in line:
                return (line[line.index(mark) :].strip()[:300],)
    return ()
