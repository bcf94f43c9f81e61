"""The process that may die: reads a job, observes, and writes the answer to a file.

`python -m hlopass.proof.child FOLDER`: the folder holds `job.json` and `module`; `stage` is
rewritten as work goes on, `answer.json` is the last thing that is written.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec

from hlopass.diagnostics import Diagnostic, HlopassError
from hlopass.proof.observation import Answer, Job
from hlopass.report import reported


def main(folder: Path) -> None:
    """Does the job in a folder."""
    job = msgspec.json.decode((folder / "job.json").read_bytes(), type=Job)
    try:
        answer = _answer(job, (folder / "module").read_bytes(), _stages(folder))
    except HlopassError as error:
        answer = Answer(diagnostics=tuple(reported(found) for found in error.diagnostics))
    except MemoryError:
        message = "there is not enough memory to run the program"
        answer = Answer(diagnostics=(reported(Diagnostic("out-of-memory", message)),))
    temporary = folder / "answer.part"
    temporary.write_bytes(msgspec.json.encode(answer))
    temporary.rename(folder / "answer.json")


def _answer(job: Job, data: bytes, stage: Callable[[str], None]) -> Answer:
    if job.candidates:
        from hlopass.proof.measure import measure

        return Answer(figures=measure(job, data, stage))
    from hlopass.proof.execute import observe

    return Answer(observe(job, data, stage))


def _stages(folder: Path) -> Callable[[str], None]:
    stage = folder / "stage"

    def begin(name: str) -> None:
        with stage.open("a") as file:
            file.write(f"{name}\n")

    return begin


if __name__ == "__main__":
    main(Path(sys.argv[1]))
    sys.stdout.flush()
    os._exit(0)
