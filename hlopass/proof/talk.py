"""What a process that stays is asked and answers, a line of JSON each."""

from __future__ import annotations

from typing import Literal

import msgspec

from hlopass.proof.given import Given
from hlopass.proof.observation import Job, Observation, Observed
from hlopass.report import Built, ReportedDiagnostic, Transfers


class Ask(msgspec.Struct, frozen=True):
    """One request. `free`: tensors that nobody holds any more.

    `put` moves inputs to the devices, `run` runs, on inputs and on tensors that are there,
    `fetch` writes a tensor to a file, `verify` does a whole job.
    """

    what: Literal["put", "run", "fetch", "verify"]
    inputs: tuple[Given, ...] = ()
    tensor: int = 0
    free: tuple[int, ...] = ()
    job: Job | None = None


class There(msgspec.Struct, frozen=True):
    """A tensor on the devices: by number, and what argument or result it is."""

    tensor: int
    index: int
    name: str | None
    type: str
    shape: tuple[int, ...]
    dtype: str


class Reply(msgspec.Struct, frozen=True):
    """What was asked for, or the diagnostics of why there is nothing.

    `built`: the first answer. `gone`: tensors that were given away. `file`: what was fetched.
    """

    built: Built | None = None
    tensors: tuple[There, ...] = ()
    observed: tuple[Observed, ...] = ()
    transfers: Transfers | None = None
    gone: tuple[int, ...] = ()
    file: str = ""
    observation: Observation | None = None
    compiled: int = 0
    diagnostics: tuple[ReportedDiagnostic, ...] = ()
