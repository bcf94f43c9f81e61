"""Where two runs' results differ, byte by byte. Knows no compiler."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from hlopass.proof.observation import Difference
from hlopass.report import Result
from hlopass.values import Value

Array = np.ndarray[Any, Any]


def first_difference(
    results: Sequence[Value], expected: Sequence[Array], actual: Sequence[Array], run: int = 1
) -> Difference | None:
    """The first element whose bytes differ, in a run; NaN equals NaN of the same bytes."""
    for value, before, after in zip(results, expected, actual, strict=True):
        differ = _bytes(before) != _bytes(after)
        if not differ.any():
            continue
        at = int(np.flatnonzero(differ.any(axis=1))[0])
        position = tuple(int(i) for i in np.unravel_index(at, before.shape))
        result = Result(value.index, value.name)
        return Difference(result, position, str(before[position]), str(after[position]), run)
    return None


def _bytes(array: Array) -> Array:
    """The bytes of each element, one element a row."""
    flat = np.ascontiguousarray(array).reshape(-1)
    return flat.view(np.uint8).reshape(-1, array.dtype.itemsize)
