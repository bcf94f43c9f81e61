"""What makes the command line start fast: the compiler's library early, numpy on first use.

For the command line alone: a library that is imported leaves its process as it was.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib
import importlib.util
import os
import sys
import threading
import types
from pathlib import Path
from typing import Any

_SHARED = ("_datetime", "_opcode", "_uuid", "math")
"""What the command line's imports need of Python's own shared libraries.

The system loads one library at a time: these come first, or their imports would wait.
"""


def prepare() -> None:
    """Loads the compiler's library beside the imports of the rest, and defers numpy's.

    The bindings import numpy for attributes that hlopass does not build; to import it takes a
    sixth of the time that rewriting 20,000 lines does.
    """
    for name in _SHARED:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    spec = importlib.util.find_spec("jaxlib")
    if spec is not None and spec.origin is not None:
        library = Path(spec.origin).with_name("libjax_common.so")
        threading.Thread(target=_load, args=(library,), daemon=True).start()
    sys.modules.setdefault("numpy", _Deferred("numpy"))


def _load(library: Path) -> None:
    """Maps a shared library and binds its symbols.

    `ctypes.CDLL(library)` would hold the interpreter's lock meanwhile; a call of C does not.
    """
    if library.exists():
        ctypes.CDLL(None).dlopen(os.fsencode(library), os.RTLD_NOW)


class _Deferred(types.ModuleType):
    """Stands for a module until an attribute of it, or a module in it, is asked for."""

    def __getattr__(self, attribute: str) -> Any:
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        return getattr(importlib.import_module(self.__name__), attribute)
