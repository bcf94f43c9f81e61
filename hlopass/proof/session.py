"""A compiled program that stays: it is run as often as is asked, in the process that may die."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from hlopass.diagnostics import Diagnostic, HlopassError, Where
from hlopass.gspmd import ParsedTiles
from hlopass.proof import exchange, execute, inputs, obtained, placing, runs, shards, work
from hlopass.proof.binding import bind
from hlopass.proof.bound import Bound, Lies, Resident, without_data
from hlopass.proof.client import client_of, fetch
from hlopass.proof.compiler import Compiler, key_of
from hlopass.proof.observation import Job
from hlopass.proof.placing import Placed
from hlopass.proof.talk import Ask, Reply, There
from hlopass.proof.verdict import judge_one
from hlopass.report import Built, reported
from hlopass.values import Value

Array = np.ndarray[Any, Any]


@dataclass
class _Tensor:
    """A tensor on the devices; `gone`: why it is there no more."""

    array: Any
    value: Value
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    tiles: ParsedTiles
    lies: Lies
    gone: str | None = None


class Session:
    """One program with its donations, compiled once, and the tensors that belong to it."""

    def __init__(self, job: Job, data: bytes, stage: Callable[[str], None]) -> None:
        self.job, self.stage = job, stage
        stage("reading the module")
        self.work = work.prepared(*work.read(job, data))
        stage("starting the runtime")
        self.compiler = Compiler(client_of(job.platform, self.work.devices))
        stage("compiling")
        self.executable = self.compiler.donated(self.work)
        self.tensors: dict[int, _Tensor] = {}
        self.made = self.runs = self.written = 0

    def built(self) -> Reply:
        """What the compiled program tells of itself."""
        facts, mine = self.executable.facts, self.work
        costs = mine.costs()
        observed = [runs.observed(each, facts) for each in mine.donations]
        sharded = mine.partitioning is not None
        built = Built(
            key=key_of(mine, self.job.platform),
            fingerprint=mine.fingerprint,
            platform=self.job.platform,
            devices=mine.devices,
            donations=tuple(
                judge_one(msgspec.structs.replace(each, cost=costs.get(each.argument.index)))
                for each in observed
            ),
            copies=facts.copies,
            temp_bytes=facts.temp_bytes,
            footprint=facts.footprint,
            shardings=obtained.shardings(mine.asked, facts) if sharded else (),
            collectives=facts.collectives if sharded else (),
            diagnostics=tuple(reported(each) for each in mine.found),
        )
        return Reply(built=built, compiled=self.compiler.count)

    def answer(self, ask: Ask) -> Reply:
        """Does what is asked. Raises HlopassError where it cannot be done; all else stays."""
        for number in ask.free:
            self.tensors.pop(number, None)
        does = {"put": self._put, "run": self._run, "fetch": self._fetch, "verify": self._verify}
        return msgspec.structs.replace(does[ask.what](ask), compiled=self.compiler.count)

    def _bound(self, ask: Ask) -> Bound:
        residents = {number: self._resident(each) for number, each in self.tensors.items()}
        return bind(
            self.work.program.arguments,
            ask.inputs,
            self.job.label,
            rest="placeholder",
            seed=self.job.seed,
            arrays=Path(self.job.arrays),
            residents=residents,
        )

    def _resident(self, tensor: _Tensor) -> Resident:
        there = (tensor.lies, tensor.array)
        return Resident(tensor.shape, tensor.dtype, there, lambda: self._host(tensor), tensor.gone)

    def _put(self, ask: Ask) -> Reply:
        """Moves inputs to where the program wants them, and keeps them there."""
        found = self._bound(ask).inputs
        wanted = [at for at, each in enumerate(found) if each.open is not None]
        placed = Placed(found, self.job.label)
        arrays = placed.on(self.executable, wanted)
        there = []
        for at, array in zip(wanted, arrays, strict=True):
            each, tiles = found[at], self.executable.arguments[at]
            lies = placing.lies(self.executable, at)
            value = each.argument
            there.append(self._keep(array, value, each.shape, each.dtype, tiles, lies))
        return Reply(tensors=tuple(there), transfers=placed.ledger.counts)

    def _run(self, ask: Ask) -> Reply:
        program, label = self.work.program, self.job.label
        found = self._bound(ask).inputs
        without_data(found, label)
        execute.ready_to_run(self.executable.facts, self.job)
        self.stage("moving the inputs")
        placed = Placed(found, label)
        buffers = placed.on(self.executable)
        self.stage("running")
        self.runs += 1
        observed, made = runs.run_donated(
            self.executable, program.arguments, self.work.donations, buffers, label
        )
        gone = self._give_away({each.argument.index: each.evidence for each in observed}, found)
        there = tuple(self._result(at, held) for at, held in enumerate(made))
        return Reply(
            tensors=there, observed=tuple(observed), transfers=placed.ledger.counts, gone=gone
        )

    def _give_away(self, evidence: dict[int, Any], found: list[Any]) -> tuple[int, ...]:
        """Marks tensors whose buffers the program took; returns their numbers."""
        taken = {
            id(each.there[1]): each.argument
            for each in found
            if each.there is not None
            and (facts := evidence.get(each.argument.index)) is not None
            and (facts.aliased or facts.deleted)
        }
        gone = []
        for number, tensor in self.tensors.items():
            argument = taken.get(id(tensor.array))
            if argument is not None and tensor.gone is None:
                tensor.gone = f"run {self.runs} was given it as {argument}, which is donated"
                tensor.array = None
                gone.append(number)
        return tuple(gone)

    def _result(self, at: int, held: list[Any]) -> There:
        value, tiles = self.work.program.results[at], self.executable.results[at]
        devices = self.executable.loaded.client.local_devices()[: self.executable.devices]
        shape = tuple(held[0].shape) if value.shape is None else value.shape
        array = placing.joined(held, devices)
        lies = placing.lies(self.executable, at, results=True)
        return self._keep(array, value, shape, held[0].dtype, tiles, lies)

    def _keep(
        self,
        array: Any,
        value: Value,
        shape: tuple[int, ...],
        dtype: np.dtype[Any],
        tiles: ParsedTiles,
        lies: Lies,
    ) -> There:
        self.made += 1
        self.tensors[self.made] = _Tensor(array, value, shape, dtype, tiles, lies)
        return There(self.made, value.index, value.name, value.type, shape, dtype.name)

    def _host(self, tensor: _Tensor) -> Array:
        """A tensor's elements; a view of its buffer where that holds all of them."""
        if tensor.gone is not None or tensor.array.is_deleted():
            why = tensor.gone or "its buffer was given away"
            message = f"{tensor.value} is gone: {why}"
            raise HlopassError(Diagnostic("input-gone", message, Where(self.job.label)))
        pieces = fetch([shard.data for shard in tensor.array.addressable_shards], self.job.label)
        return shards.join(pieces, tensor.tiles, tensor.shape)

    def _fetch(self, ask: Ask) -> Reply:
        """Writes a tensor to a file; no view of its buffer is left, which would keep it."""
        array = self._host(self.tensors[ask.tensor])
        self.written += 1
        memory = Path(self.job.memory)
        folder = memory if exchange.roomy(array.nbytes, memory) else Path(self.job.arrays)
        path = folder / f"fetched{self.written}"
        exchange.write(array, path)
        return Reply(file=str(path))

    def _verify(self, ask: Ask) -> Reply:
        """A whole proof. Tensors are taken as what they hold, and stay."""
        assert ask.job is not None
        job = msgspec.structs.replace(ask.job, inputs=ask.inputs, arrays=self.job.arrays)
        residents = {
            number: replace(self._resident(each), there=None)
            for number, each in self.tensors.items()
        }
        given = execute.bound(job, self.work.program, residents)
        found = execute.observe_work(job, self.work, given, self.compiler, self.stage)
        return Reply(observation=found)


def serve(job: Job, data: bytes, stage: Callable[[str], None], asked: int, answers: int) -> bool:
    """Answers requests until there are no more; `asked` and `answers` are ends of pipes.

    The first answer is about compiling; where that fails, it is the only one, and False is
    returned.
    """
    with os.fdopen(asked, "rb") as requests, os.fdopen(answers, "wb", buffering=0) as replies:

        def reply(do: Callable[[], Reply]) -> bool:
            found = _diagnosed(do, job)
            replies.write(msgspec.json.encode(found) + b"\n")
            return not found.diagnostics

        session: Session | None = None

        def begin() -> Reply:
            nonlocal session
            session = Session(job, data, stage)
            return session.built()

        if not reply(begin):
            return False
        assert session is not None
        for line in requests:
            ask = msgspec.json.decode(line, type=Ask)
            reply(lambda ask=ask: session.answer(ask))  # type: ignore[misc]
    return True


def _diagnosed(do: Callable[[], Reply], job: Job) -> Reply:
    try:
        return do()
    except HlopassError as error:
        return Reply(diagnostics=tuple(reported(found) for found in error.diagnostics))
    except MemoryError:
        finding = inputs.no_memory(job.label)
    except OSError as error:
        message = f"cannot write to the temporary folder: {error.strerror or error}"
        finding = Diagnostic("temporary-folder", message)
    return Reply(diagnostics=(reported(finding),))
