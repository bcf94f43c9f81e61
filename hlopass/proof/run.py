"""Starts the child process that compiles and runs, waits, and says what became of it."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import msgspec

from hlopass.diagnostics import CompilerDied, Diagnostic, HlopassError, Where
from hlopass.guard import died
from hlopass.proof import exchange
from hlopass.proof.given import Held
from hlopass.proof.observation import Answer, Figures, Job, Observation, Propagated
from hlopass.report import Probe, restored

_POLL = 0.02
"""Seconds between looks at the child."""

COMMAND = (sys.executable, "-P", "-m", "hlopass.proof.child")
"""The child; the folder with its job comes next."""

_EXCEPTION = re.compile(r"[A-Za-z_][\w.]*(?::|$)")
_FATAL = re.compile(r"^(?:F\d{4} \S+ +\d+ \S+:\d+\]|\[\S+ : \d+\] RAW:) (.+)$", re.MULTILINE)


def observe(
    data: bytes,
    job: Job,
    timeout: float | None = None,
    progress: Callable[[str], None] | None = None,
    held: Held | None = None,
    base: bytes | None = None,
) -> Observation:
    """What compiling and running a module shows, in a child process.

    `held`: the arrays among the job's inputs; `base`: the module that it is held against.
    `timeout` in seconds. Raises CompilerDied where the child crashes or runs out of time,
    HlopassError where it cannot do the job.
    """
    observation = _ask(data, job, timeout, progress, held or Held(), base).observation
    assert observation is not None
    return observation


def measure(
    data: bytes,
    job: Job,
    timeout: float | None = None,
    progress: Callable[[str], None] | None = None,
) -> tuple[Figures, ...]:
    """The figures of each of a job's candidates; as `observe` otherwise."""
    figures = _ask(data, job, timeout, progress).figures
    assert figures is not None
    return figures


def propagate(
    data: bytes,
    job: Job,
    timeout: float | None = None,
    progress: Callable[[str], None] | None = None,
) -> Propagated:
    """What Shardy's propagation makes of a module's shardings; as `observe` otherwise."""
    propagated = _ask(data, job, timeout, progress).propagated
    assert propagated is not None
    return propagated


def probe(
    job: Job, timeout: float | None = None, progress: Callable[[str], None] | None = None
) -> Probe:
    """What a platform does with donations; as `observe` otherwise."""
    found = _ask(b"", job, timeout, progress).probe
    assert found is not None
    return found


def _ask(
    data: bytes,
    job: Job,
    timeout: float | None,
    progress: Callable[[str], None] | None,
    held: Held | None = None,
    base: bytes | None = None,
) -> Answer:
    """Gives a job to a child process; its answer, which holds no errors."""
    with folder_of(data, job, held or Held()) as folder:
        if base is not None:
            (folder / "base").write_bytes(base)
        status = _run(folder, job, timeout, progress)
        answer = folder / "answer.json"
        if not answer.exists():
            raise death(folder, job, status)
        found = msgspec.json.decode(answer.read_bytes(), type=Answer)
    if found.diagnostics:
        raise HlopassError(restored(diagnostic) for diagnostic in found.diagnostics)
    return found


@contextlib.contextmanager
def folder_of(data: bytes, job: Job, held: Held) -> Iterator[Path]:
    """A temporary folder with a job in it; in memory where it holds arrays and there is room."""
    with contextlib.ExitStack() as stack:
        try:
            memory = exchange.MEMORY if held.bytes and exchange.roomy(held.bytes) else None
            made = tempfile.TemporaryDirectory(
                prefix="hlopass-", dir=memory, ignore_cleanup_errors=True
            )
            folder = Path(stack.enter_context(made))
            job = msgspec.structs.replace(job, arrays=str(folder))
            (folder / "job.json").write_bytes(msgspec.json.encode(job))
            (folder / "module").write_bytes(data)
            (folder / "stage").touch()
            held.write(folder)
        except OSError as error:
            message = f"cannot write to the temporary folder: {error.strerror or error}"
            raise HlopassError(Diagnostic("temporary-folder", message)) from None
        yield folder


def _run(
    folder: Path, job: Job, timeout: float | None, progress: Callable[[str], None] | None
) -> int:
    """Runs the child to its end; nothing of it is left. Returns its exit status."""
    with (folder / "stderr").open("wb") as errors:
        child = subprocess.Popen(
            [*COMMAND, str(folder)],
            stdin=subprocess.PIPE,
            stdout=errors,
            stderr=errors,
            env=environment(job),
            start_new_session=True,
        )
        try:
            return _wait(child, folder, job, timeout, progress)
        finally:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(child.pid, signal.SIGKILL)
            child.wait()
            assert child.stdin is not None
            child.stdin.close()


def environment(job: Job) -> dict[str, str]:
    """The child's environment: it finds the same modules as this process, in the same order.

    An empty entry of `sys.path` means the current folder, which `-P` would leave out.
    """
    return os.environ | {
        "JAX_PLATFORMS": job.platform,
        "TF_CPP_MIN_LOG_LEVEL": "2",
        "PYTHONPATH": os.pathsep.join(path or os.curdir for path in sys.path),
    }


def _wait(
    child: subprocess.Popen[bytes],
    folder: Path,
    job: Job,
    timeout: float | None,
    progress: Callable[[str], None] | None,
) -> int:
    end = None if timeout is None else time.monotonic() + timeout
    told = ""
    while True:
        stage = stage_of(folder)
        if progress is not None and stage != told:
            progress(stage)
            told = stage
        try:
            return child.wait(_POLL)
        except subprocess.TimeoutExpired:
            if end is not None and time.monotonic() > end:
                raise out_of_time(job.label, timeout, stage) from None


def out_of_time(label: str, timeout: float | None, stage: str) -> CompilerDied:
    """What to raise for a child that took too long."""
    message = f"the time limit of {timeout:g} seconds ran out while {stage}"
    hint = "give it more with --timeout"
    return CompilerDied(Diagnostic("time-limit", message, Where(label), help=hint))


def stage_of(folder: Path) -> str:
    """What a child does, as it last said."""
    lines = (folder / "stage").read_text().splitlines()
    return lines[-1] if lines else "starting"


def death(folder: Path, job: Job, status: int) -> HlopassError:
    """What to raise for a child that left no answer."""
    chatter = (folder / "stderr").read_bytes()
    stage, where = stage_of(folder), Where(job.label)
    if status == -signal.SIGKILL:
        message = f"the process that ran the compiler was killed while {stage}"
        hint = "the kernel does that where memory runs out"
        return CompilerDied(Diagnostic("compiler-killed", message, where, help=hint))
    fatal = _fatal(chatter)
    if status < 0:
        found = died(-status, chatter, stage, where)
        return CompilerDied(found if found.notes else replace(found, notes=fatal))
    raised = _raised(chatter)
    if raised is not None and not fatal:
        message = f"internal error while {stage}: {raised}"
        return HlopassError(Diagnostic("internal", message, where))
    message = f"the compiler ended with status {status} while {stage}"
    return CompilerDied(Diagnostic("compiler-crashed", message, where, notes=fatal))


def _raised(chatter: bytes) -> str | None:
    """The exception that ended the child, in Python's own words."""
    lines = chatter.decode(errors="replace").strip().splitlines()
    if not any(line.startswith("Traceback (most recent call last)") for line in lines):
        return None
    return next((line for line in reversed(lines) if _EXCEPTION.match(line)), lines[-1])[:300]


def _fatal(chatter: bytes) -> tuple[str, ...]:
    """The message of the last line that XLA logged as fatal."""
    found = _FATAL.findall(chatter.decode(errors="replace"))
    return (found[-1].strip()[:300],) if found else ()
