"""Holds the results of a sharded program against those of one device. Knows no compiler."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np

from hlopass.proof.difference import first_difference
from hlopass.proof.observation import Difference
from hlopass.report import Result, Unsharded
from hlopass.values import Value

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class _Close:
    """How far a result is from what it should be, as a share of its largest element."""

    distance: float
    tolerance: float
    difference: Difference | None

    @property
    def badness(self) -> tuple[float, float]:
        """What to order by: the share of what is tolerated, and the distance itself."""
        most = self.distance / self.tolerance if self.tolerance else math.inf
        return (most if self.distance else 0.0, self.distance)


def compare(
    results: Sequence[Value],
    expected: Sequence[Array],
    actual: Sequence[Array],
    unreduced: Sequence[bool],
    tolerance: float | None,
) -> tuple[Unsharded, Difference | None]:
    """Whether results agree, and the first that does not.

    `unreduced`: those that must agree in every element, where one NaN is as good as another.
    `tolerance`: as a share of the largest element; the square root of the type's epsilon by
    default, nothing for integers.
    """
    exact, wrong = 0, None
    worst = _Close(0.0, 0.0, None)
    for value, before, after, alone in zip(results, expected, actual, unreduced, strict=True):
        different = first_difference([value], [before], [after])
        if different is None:
            exact += 1
            continue
        close = _close(value, before, after, 0.0 if alone else tolerance)
        if close.distance > close.tolerance:
            wrong = wrong or close.difference
        worst = max(worst, close, key=lambda each: each.badness)
    found = Unsharded(
        equal=wrong is None, exact=exact, results=len(results), largest=worst.distance,
        tolerance=worst.tolerance,
    )  # fmt: skip
    return found, wrong


def _close(value: Value, expected: Array, actual: Array, tolerance: float | None) -> _Close:
    """The largest difference; infinite where one has a NaN or infinity that the other has not."""
    before, after = _wide(expected), _wide(actual)
    with np.errstate(invalid="ignore", over="ignore"):
        distances = np.abs(before - after)
        same = (before == after) | ((before != before) & (after != after))
        distances = np.where(same, 0.0, np.where(np.isfinite(distances), distances, math.inf))
    at = tuple(int(i) for i in np.unravel_index(int(np.argmax(distances)), before.shape))
    sizes = np.abs(before)
    largest = float(np.max(sizes, where=np.isfinite(sizes), initial=0.0))
    distance = float(distances[at])
    share = distance / largest if largest else (math.inf if distance else 0.0)
    shown = Difference(Result(value.index, value.name), at, str(expected[at]), str(actual[at]))
    return _Close(share, _tolerance(expected.dtype) if tolerance is None else tolerance, shown)


def _wide(array: Array) -> Array:
    """Elements as numbers with room for differences."""
    return array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)


def _tolerance(dtype: np.dtype[Any]) -> float:
    """The square root of the type's epsilon: half of its digits; 0 for what is no float."""
    if dtype.kind in "biu" or dtype.name.startswith(("int", "uint")):
        return 0.0
    return math.sqrt(float(ml_dtypes.finfo(dtype).eps))
