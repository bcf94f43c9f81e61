"""A name for a program as it will be compiled, for build caches."""

from __future__ import annotations

from hlopass.program import Program


def of(program: Program) -> str:
    """A SHA-256 over the whole module, donations and shardings included.

    Names and source locations of operations play no part: they do not change what is
    compiled. The form that is hashed is MLIR's text, so another jaxlib may give another.
    """
    import hashlib

    text = program.module.operation.get_asm(assume_verified=True)
    return hashlib.sha256(str(text).encode()).hexdigest()
