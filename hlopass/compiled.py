"""A compiled program that is run as often as is wanted, and tensors that stay on its devices.

It lives in a child process: a crash is an error here, and nothing is left when it is closed.
Arrays cross as files that the other side maps, in memory where there is room; tensors that a run
returns stay where they are, and go into the next run without moving.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from msgspec import structs

from hlopass.diagnostics import Where
from hlopass.donation import Donation
from hlopass.proof import exchange, given
from hlopass.proof.link import Link
from hlopass.proof.observation import Job, Observation
from hlopass.proof.talk import Ask, Reply, There
from hlopass.proof.verdict import judge_one
from hlopass.report import Built, ReportedDonation, Transfers
from hlopass.values import Role, Value, select

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]


class Tensor:
    """A tensor on the devices of a compiled program.

    `index`, `name`, `type`: of the argument or result that it was. `shape`: in elements.
    """

    def __init__(self, link: Link, there: There) -> None:
        self._link = link
        self._there = there
        self.index, self.name, self.type = there.index, there.name, there.type
        self.shape = there.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of its elements; those that numpy lacks are of ml_dtypes."""
        from hlopass.proof.inputs import dtype_named

        return dtype_named(self._there.dtype)

    @property
    def nbytes(self) -> int:
        """The bytes of its elements, as numpy holds them."""
        return self.dtype.itemsize * math.prod(self.shape)

    def numpy(self) -> Array:
        """Its elements, in an array of their own: no view that would keep the buffer.

        Raises HlopassError where it was given away to a run.
        """
        reply = self._link.ask(Ask("fetch", tensor=self._there.tensor), given.Held())
        return exchange.read(Path(reply.file), self.dtype, self.shape)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        found = self.numpy()
        return found if dtype is None else found.astype(dtype, copy=False)

    def __repr__(self) -> str:
        name = "" if self.name is None else f" {self.name!r}"
        return f"<Tensor {self.index}{name}: {self.type}>"

    def __del__(self) -> None:
        self._link.freed.append(self._there.tensor)


class Tensors(Sequence[Tensor]):
    """Tensors in the order of arguments or results; one by its place, its name or a pattern."""

    def __init__(self, found: Sequence[Tensor], role: Role, label: str) -> None:
        self._found = tuple(found)
        self._values = [
            Value(role, at, each.name, each.type, None) for at, each in enumerate(self._found)
        ]
        self._role: Role = role
        self._label = label

    def __getitem__(self, which: Any) -> Any:
        if isinstance(which, str):
            meant = select(which, self._values, self._role, Where(self._label)).values
            return self._found[meant[0].index]
        return self._found[which]

    def __len__(self) -> int:
        return len(self._found)

    def __iter__(self) -> Iterator[Tensor]:
        return iter(self._found)

    def by_index(self) -> dict[int, Tensor]:
        """The tensors by the index of their argument or result, as `run` takes them."""
        return {each.index: each for each in self._found}


class Run(Tensors):
    """The results of a run.

    `donations`: each with its verdict and evidence. `transfers`: what the run moved.
    """

    def __init__(self, reply: Reply, link: Link) -> None:
        super().__init__([Tensor(link, each) for each in reply.tensors], "result", link.job.label)
        self.donations: tuple[ReportedDonation, ...] = tuple(map(judge_one, reply.observed))
        self.transfers = reply.transfers or Transfers()


class Compiled:
    """A program, compiled with its donations; `hlopass.compile` makes one.

    A context manager: leaving it ends its process.
    """

    def __init__(
        self,
        data: bytes,
        job: Job,
        asked: Sequence[Donation],
        timeout: float | None,
        progress: Callable[[str], None] | None,
    ) -> None:
        self._link = Link(data, job, timeout, progress)
        first = self._link.first
        assert first.built is not None
        self._origins = {each.argument.index: each.origin for each in asked}
        donations = self._with_origins(first.built.donations)
        self.report: Built = structs.replace(first.built, donations=donations)
        self._timeout = timeout
        self._modules = first.compiled
        self._numbers = itertools.count()

    @property
    def key(self) -> str:
        """What tells this program from any other, donations included."""
        return self.report.key

    @property
    def compilations(self) -> int:
        """How many modules were compiled until now: one, and more after a proof."""
        return self._modules

    def put(self, inputs: Any, *, timeout: float | None = None) -> Tensors:
        """Moves inputs to the devices, as the program wants them, to be used by `run`.

        `inputs`: as for `hlopass.verify`. Raises HlopassError as `run`.
        """
        reply = self._ask(Ask("put"), inputs, timeout)
        found = [Tensor(self._link, each) for each in reply.tensors]
        return Tensors(found, "argument", self._link.job.label)

    def run(self, inputs: Any, *, timeout: float | None = None) -> Run:
        """Runs the program; every argument needs a value.

        `inputs`: as for `hlopass.verify`, and tensors of this program among them. A tensor that
        is given to a donated argument is gone then; arrays and files are copied, and stay.
        `timeout` in seconds, that of `compile` by default. Raises HlopassError where values are
        missing, gone or of another type, CompilerDied where the run crashes or takes too long.
        """
        run = Run(self._ask(Ask("run"), inputs, timeout), self._link)
        run.donations = self._with_origins(run.donations)
        return run

    def _with_origins(self, found: tuple[ReportedDonation, ...]) -> tuple[ReportedDonation, ...]:
        """Donations with who asked for them, where that is known."""
        return tuple(
            structs.replace(each, origin=self._origins.get(each.argument.index, each.origin))
            for each in found
        )

    def observe(
        self, job: Job, held: given.Held, timeout: float | None, progress: Any
    ) -> Observation:
        """A whole proof; what is compiled is not compiled again."""
        reply = self._link.ask(Ask("verify", job=job), held, timeout, progress)
        self._modules = reply.compiled
        assert reply.observation is not None
        return reply.observation

    def held(self, inputs: Any) -> given.Held:
        """What was given as inputs; tensors of this program by their numbers."""
        if isinstance(inputs, Tensors):
            inputs = inputs.by_index()
        return given.of_python(inputs, f"array{next(self._numbers)}-", self._number)

    def _ask(self, ask: Ask, inputs: Any, timeout: float | None) -> Reply:
        reply = self._link.ask(ask, self.held(inputs), timeout or self._timeout)
        self._modules = reply.compiled
        return reply

    def _number(self, value: Any) -> int | None:
        mine = isinstance(value, Tensor) and value._link is self._link
        return value._there.tensor if mine else None

    @property
    def label(self) -> str:
        """What diagnostics call the program."""
        return self._link.job.label

    @property
    def job(self) -> Job:
        """What was asked to be compiled."""
        return self._link.job

    def close(self) -> None:
        """Ends the process, and all tensors with it."""
        self._link.close()

    def __enter__(self) -> Compiled:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType
    ) -> None:
        self.close()
