"""The process that may die: reads a job, observes, and writes the answer to a file.

`python -m hlopass.proof.child FOLDER`: the folder holds `job.json` and `module`; `stage` is
added to as work goes on, `answer.json` is the last thing that is written. Standard input is
a pipe whose other end the parent holds: when it closes, the parent is gone.
"""

from __future__ import annotations

import contextlib
import os
import select
import shutil
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import msgspec

from hlopass.diagnostics import HlopassError
from hlopass.proof.observation import Answer, Job
from hlopass.report import reported

_LOOK = 1.0
"""Seconds between looks at who the parent is."""


def main(folder: Path, *pipes: str) -> None:
    """Does the job in a folder; `pipes`: the numbers of those that one who stays talks through."""
    job = msgspec.json.decode((folder / "job.json").read_bytes(), type=Job)
    if job.stays:
        from hlopass.proof.session import serve

        asked, answers = map(int, pipes)
        if serve(job, (folder / "module").read_bytes(), _stages(folder), asked, answers):
            _remove(folder)  # nobody asks any more: the parent is gone
        return
    try:
        answer = _answer(job, (folder / "module").read_bytes(), _stages(folder))
    except HlopassError as error:
        answer = Answer(diagnostics=tuple(reported(found) for found in error.diagnostics))
    except MemoryError:
        from hlopass.proof.inputs import no_memory

        answer = Answer(diagnostics=(reported(no_memory(job.label)),))
    temporary = folder / "answer.part"
    temporary.write_bytes(msgspec.json.encode(answer))
    temporary.rename(folder / "answer.json")


def _answer(job: Job, data: bytes, stage: Callable[[str], None]) -> Answer:
    if job.candidates:
        from hlopass.proof.measure import measure

        return Answer(figures=measure(job, data, stage))
    if job.propagate:
        from hlopass.proof.propagate import propagate

        return Answer(propagated=propagate(job, data, stage))
    if job.probe:
        from hlopass.proof.probe import probe

        return Answer(probe=probe(job, stage))
    from hlopass.proof.execute import observe

    return Answer(observe(job, data, stage))


def _stages(folder: Path) -> Callable[[str], None]:
    stage = folder / "stage"

    def begin(name: str) -> None:
        with stage.open("a") as file:
            file.write(f"{name}\n")

    return begin


def _go_with_parent(folder: Path) -> None:
    """Ends this process and removes its folders as soon as the parent is gone.

    A fork of the parent may hold the pipe open: then another parent says so.
    """
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            if select.select([0], [], [], _LOOK)[0] and not os.read(0, 1):
                break
        _remove(folder)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _remove(folder: Path) -> None:
    """Removes the job's folder, and that in memory where it has one."""
    with contextlib.suppress(Exception):
        job = msgspec.json.decode((folder / "job.json").read_bytes(), type=Job)
        if job.memory:
            shutil.rmtree(job.memory, ignore_errors=True)
    shutil.rmtree(folder, ignore_errors=True)


def _be_expendable() -> None:
    """Leaves no core file, and is the first to go where memory runs out."""
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")


if __name__ == "__main__":
    _be_expendable()
    _go_with_parent(Path(sys.argv[1]))
    main(Path(sys.argv[1]), *sys.argv[2:])
    sys.stdout.flush()
    os._exit(0)
