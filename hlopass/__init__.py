"""Rewrites StableHLO programs so that their buffers are reused, and proves that they are.

The public names are loaded when they are first used: importing this package is cheap.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hlopass.api import (
        Proof,
        Rewritten,
        compile,  # noqa: A004
        convert,
        inspect,
        probe,
        rewrite,
        suggest,
        verify,
    )
    from hlopass.compiled import Compiled, Run, Tensor, Tensors
    from hlopass.diagnostics import CompilerDied, Diagnostic, HlopassError
    from hlopass.manifest import DonateEntry, Manifest
    from hlopass.proof.donating import donating
    from hlopass.proof.watch import Watched, watch
    from hlopass.shardspec import BoundSpec, Spec
    from hlopass.sources import load_spec
    from hlopass.splitting import split

__version__ = "0.1.0"

_HOMES = {
    "BoundSpec": "shardspec",
    "Compiled": "compiled",
    "CompilerDied": "diagnostics",
    "Diagnostic": "diagnostics",
    "DonateEntry": "manifest",
    "HlopassError": "diagnostics",
    "Manifest": "manifest",
    "Proof": "api",
    "Rewritten": "api",
    "Run": "compiled",
    "Spec": "shardspec",
    "Tensor": "compiled",
    "Tensors": "compiled",
    "Watched": "proof.watch",
    "compile": "api",
    "convert": "api",
    "donating": "proof.donating",
    "inspect": "api",
    "load_spec": "sources",
    "probe": "api",
    "rewrite": "api",
    "split": "splitting",
    "suggest": "api",
    "verify": "api",
    "watch": "proof.watch",
}

__all__ = [
    "BoundSpec",
    "Compiled",
    "CompilerDied",
    "Diagnostic",
    "DonateEntry",
    "HlopassError",
    "Manifest",
    "Proof",
    "Rewritten",
    "Run",
    "Spec",
    "Tensor",
    "Tensors",
    "Watched",
    "compile",
    "convert",
    "donating",
    "inspect",
    "load_spec",
    "probe",
    "rewrite",
    "split",
    "suggest",
    "verify",
    "watch",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'hlopass' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"hlopass.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
