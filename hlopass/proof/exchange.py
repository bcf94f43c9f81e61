"""Arrays that cross between processes: as files of their bytes, which the other side maps.

Nothing is pickled, and nothing copied but once, by the side that writes. A file is removed as
soon as it is mapped or read; the memory goes with the last array over it.
"""

from __future__ import annotations

import contextlib
import mmap
import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

MEMORY = Path("/dev/shm")
"""Where Linux keeps files in memory."""


def roomy(needed: int, folder: Path = MEMORY) -> bool:
    """Whether a folder in memory has room for so many bytes and as many again."""
    with contextlib.suppress(OSError):
        return os.access(folder, os.W_OK) and shutil.disk_usage(folder).free > 2 * needed
    return False


def write(array: Array, path: Path) -> None:
    """Writes an array's bytes, in C's order. Raises OSError."""
    import numpy as np

    flat = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    with path.open("wb") as file:
        file.write(flat.data)


def read(path: Path, dtype: np.dtype[Any], shape: Sequence[int]) -> Array:
    """The array in a file, which is removed; it can be written to, and is nobody else's."""
    import numpy as np

    try:
        if path.stat().st_size == 0:
            return np.empty(shape, dtype)
        with path.open("rb") as file:
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
        return np.frombuffer(mapped, dtype).reshape(shape)
    finally:
        path.unlink()
