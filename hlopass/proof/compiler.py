"""Compiles what a program's proof needs, each module once."""

from __future__ import annotations

import hashlib
from typing import Any

from hlopass.jaxlib_compat import jaxlib_version
from hlopass.proof import evidence, obtained
from hlopass.proof.client import compile_module, parameter_layouts, result_layouts
from hlopass.proof.executable import Executable
from hlopass.proof.partition import Partitioning
from hlopass.proof.refusal import custom_call_targets
from hlopass.proof.work import Work


class Compiler:
    """Compiles for one client, and keeps what it compiled.

    The key is the whole module with its donations, and how it is split: the same program with
    and without donation are two.
    """

    def __init__(self, client: Any) -> None:
        self.client = client
        self._built: dict[str, Executable] = {}

    @property
    def count(self) -> int:
        """How many modules were compiled."""
        return len(self._built)

    def donated(self, work: Work) -> Executable:
        """A program with its donations. Raises HlopassError where XLA refuses it."""
        return self._compiled(work, work.donated, work.partitioning)

    def plain(self, work: Work) -> Executable:
        """A program without donation; as `donated` otherwise."""
        return self._compiled(work, work.plain, work.partitioning)

    def single(self, work: Work) -> Executable:
        """A program for one device, without donation and sharding; as `donated` otherwise."""
        assert work.single is not None
        return self._compiled(work, work.single, None)

    def _compiled(
        self, work: Work, bytecode: bytes, partitioning: Partitioning | None
    ) -> Executable:
        key = hashlib.sha256(repr(partitioning).encode() + b"\0" + bytecode).hexdigest()
        if key not in self._built:
            self._built[key] = self._really(work, bytecode, partitioning)
        return self._built[key]

    def _really(self, work: Work, bytecode: bytes, partitioning: Partitioning | None) -> Executable:
        program = work.program
        loaded = compile_module(
            self.client,
            bytecode,
            program.source.label,
            lambda: custom_call_targets(str(program.module)),
            partitioning,
        )
        facts = evidence.read(loaded)
        return Executable(
            loaded,
            facts,
            1 if partitioning is None else partitioning.devices,
            obtained.tiles(program.arguments, facts.arguments),
            obtained.tiles(program.results, facts.results),
            parameter_layouts(loaded),
            result_layouts(loaded),
        )


def key_of(work: Work, platform: str) -> str:
    """What tells a program with its donations, compiled for devices, from any other.

    As the fingerprint it is the same wherever things stand in the source.
    """
    parts = (work.fingerprint, repr(work.partitioning), platform, jaxlib_version())
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()
