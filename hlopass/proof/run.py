"""Starts the child process that compiles and runs, waits, and says what became of it."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import msgspec

from hlopass.diagnostics import CompilerDied, Diagnostic, HlopassError, Where
from hlopass.guard import died
from hlopass.proof.observation import Answer, Figures, Job, Observation
from hlopass.report import ReportedDiagnostic

_POLL = 0.02
"""Seconds between looks at the child."""


def observe(
    data: bytes,
    job: Job,
    timeout: float | None = None,
    progress: Callable[[str], None] | None = None,
) -> Observation:
    """What compiling and running a module shows, in a child process.

    `timeout` in seconds. Raises CompilerDied where the child crashes or runs out of time,
    HlopassError with its diagnostics where it cannot do the job.
    """
    observation = _ask(data, job, timeout, progress).observation
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


def _ask(
    data: bytes, job: Job, timeout: float | None, progress: Callable[[str], None] | None
) -> Answer:
    """Gives a job to a child process; its answer, which holds no errors."""
    with tempfile.TemporaryDirectory(prefix="hlopass-") as name:
        folder = Path(name)
        (folder / "job.json").write_bytes(msgspec.json.encode(job))
        (folder / "module").write_bytes(data)
        (folder / "stage").touch()
        status = _run(folder, job, timeout, progress)
        answer = folder / "answer.json"
        if not answer.exists():
            raise CompilerDied(_death(folder, job, status))
        found = msgspec.json.decode(answer.read_bytes(), type=Answer)
    if found.diagnostics:
        raise HlopassError(restored(diagnostic) for diagnostic in found.diagnostics)
    return found


def _run(
    folder: Path, job: Job, timeout: float | None, progress: Callable[[str], None] | None
) -> int:
    """Runs the child to its end; nothing of it is left. Returns its exit status."""
    environment = os.environ | {
        "JAX_PLATFORMS": job.platform,
        "TF_CPP_MIN_LOG_LEVEL": "2",
        "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
    }
    with (folder / "stderr").open("wb") as errors:
        child = subprocess.Popen(
            [sys.executable, "-m", "hlopass.proof.child", str(folder)],
            stdin=subprocess.DEVNULL,
            stdout=errors,
            stderr=errors,
            env=environment,
            start_new_session=True,
        )
        try:
            return _wait(child, folder, job, timeout, progress)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)
            child.wait()


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
        stage = _stage(folder)
        if progress is not None and stage != told:
            progress(stage)
            told = stage
        try:
            return child.wait(_POLL)
        except subprocess.TimeoutExpired:
            if end is not None and time.monotonic() > end:
                message = f"the time limit of {timeout:g} seconds ran out while {stage}"
                hint = "give it more with --timeout"
                where = Where(job.label)
                raise CompilerDied(Diagnostic("time-limit", message, where, help=hint)) from None


def _stage(folder: Path) -> str:
    lines = (folder / "stage").read_text().splitlines()
    return lines[-1] if lines else "starting"


def _death(folder: Path, job: Job, status: int) -> Diagnostic:
    chatter = (folder / "stderr").read_bytes()
    stage = _stage(folder)
    if status < 0:
        return died(-status, chatter, stage, Where(job.label))
    lines = chatter.decode(errors="replace").strip().splitlines()
    notes = (lines[-1].strip()[:300],) if lines else ()
    message = f"the compiler ended with status {status} while {stage}"
    return Diagnostic("compiler-crashed", message, Where(job.label), notes=notes)


def restored(found: ReportedDiagnostic) -> Diagnostic:
    """A diagnostic that crossed the process boundary."""
    return Diagnostic(
        found.code,
        found.message,
        None if found.where is None else Where(found.where, snippet=found.snippet),
        found.severity,
        found.notes,
        found.help,
    )
