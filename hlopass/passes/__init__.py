"""The passes, one a file: `donate-args` is `DonateArgs` in `donate_args.py`."""

from __future__ import annotations

import functools
import importlib
import pkgutil

from hlopass.passes._base import Pass, PassContext

__all__ = ["Pass", "PassContext", "all_passes"]


@functools.cache
def all_passes() -> dict[str, type[Pass]]:
    """Every pass of this package by name, found by its file."""
    found: dict[str, type[Pass]] = {}
    for info in pkgutil.iter_modules(__path__):
        if info.name.startswith("_"):
            continue
        module = importlib.import_module(f"{__name__}.{info.name}")
        cls = getattr(module, info.name.title().replace("_", ""))
        found[cls.name] = cls
    return dict(sorted(found.items()))
