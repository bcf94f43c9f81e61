"""Calls of jitted functions that are watched in the process of their user."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import hlopass
from hlopass.diagnostics import HlopassError


def step(state: dict[str, Any], unread: Any, x: Any) -> tuple[Any, dict[str, Any]]:
    return x.sum(), {"m": state["m"] + x, "w": state["w"] * 2}


JITTED = jax.jit(step, donate_argnums=(0, 1))


def arguments() -> tuple[dict[str, Any], Any, Any]:
    array = jnp.ones((64, 64)) * 3
    return {"m": array + 1, "w": array + 2}, array + 5, array


def verdicts(seen: hlopass.Watched) -> dict[str | None, str]:
    return {each.argument.name: each.verdict for each in seen.donations}


@pytest.mark.filterwarnings("ignore:Some donated buffers were not usable")
def test_each_donated_array_is_looked_at() -> None:
    state, unread, x = arguments()
    seen = hlopass.watch(JITTED, state, unread, x)
    loss, new = seen.results
    assert verdicts(seen) == {"state['m']": "reused", "state['w']": "reused", "[0][1]": "unpaired"}
    assert [each.result and each.result.name for each in seen.donations[:2]] == [
        "[1]['m']", "[1]['w']",
    ]  # fmt: skip
    assert seen.donations[2].argument.index == 2
    assert seen.donations[2].reason == "nothing reads it, and JAX leaves it out of the program"
    assert state["w"].is_deleted() and not x.is_deleted()
    assert float(loss) == 64 * 64 * 3 and float(new["w"][0, 0]) == 10


@pytest.mark.filterwarnings("ignore:Some donated buffers were not usable")
def test_views_are_named() -> None:
    state, unread, x = arguments()
    views = np.asarray(state["m"])[1:], np.from_dlpack(state["w"])
    seen = hlopass.watch(JITTED, state, unread, x)
    m, w, _ = seen.donations
    assert (m.verdict, w.verdict) == ("copied", "copied")
    assert m.reason is not None and m.reason.endswith("a numpy array is a view of it")
    assert w.reason is not None and w.reason.endswith("as a view of dlpack does")
    assert views[0][0, 0] == 4 and views[1][0, 0] == 5


@pytest.mark.filterwarnings("ignore:Some donated buffers were not usable")
def test_a_buffer_that_is_given_twice_is_named() -> None:
    state, unread, x = arguments()
    with pytest.raises(HlopassError, match=r"argument 0 .*'m'.* and argument 1 .*'w'.* the same"):
        hlopass.watch(JITTED, {"m": state["m"], "w": state["m"]}, unread, x)
    assert not state["m"].is_deleted()


def test_arrays_of_numpy_are_not_arrays_on_a_device() -> None:
    array = np.ones(4, np.float32)
    seen = hlopass.watch(jax.jit(lambda x, y: (x + y, x * y), donate_argnums=0), array, array)
    assert seen.donations == ()


def test_only_what_is_jitted_can_be_watched() -> None:
    with pytest.raises(HlopassError, match="cannot watch function"):
        hlopass.watch(step, 1, 2, 3)
