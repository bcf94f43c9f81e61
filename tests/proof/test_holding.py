"""Buffers that something else holds: two arguments, or a view; found and named."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from proof_programs import ALIAS_0, BY_FLOW, STEP, swap

from hlopass import donation_attrs, formats
from hlopass.diagnostics import HlopassError
from hlopass.proof import runs, work
from hlopass.proof.client import client_of, run_sharded
from hlopass.proof.compiler import Compiler
from hlopass.proof.observation import Job
from hlopass.proof.placing import on_device, place
from hlopass.proof.verdict import judge_one

LABEL = "program.mlir"


def prepared(text: str) -> tuple[Any, Any]:
    program, devices, found = work.read(Job(LABEL), text.encode())
    mine = work.prepared(program, devices, found)
    return mine, Compiler(client_of("cpu", 1))


def run(text: str, buffers: list[Any]) -> list[Any]:
    """The verdicts of a run on buffers."""
    mine, compiler = prepared(text)
    executable = compiler.donated(mine)
    found, _ = runs.run_donated(executable, mine.program.arguments, mine.donations, buffers, LABEL)
    return [judge_one(each) for each in found]


def matrices() -> list[Any]:
    return place([np.full((64, 64), at, np.float32) for at in (1, 2)])


def test_a_buffer_that_enters_twice_is_found_before_anything_runs() -> None:
    buffer = matrices()[0]
    for text in (BY_FLOW, swap(ALIAS_0, "")):
        with pytest.raises(HlopassError) as caught:
            run(text, [buffer, buffer])
        (finding,) = caught.value.diagnostics
        assert finding.code == "input-shared"
        shared = "argument 0 'a' and argument 1 'b' are given the same buffer"
        assert finding.message == f"{shared}, and argument 0 'a' is donated"
        assert not buffer.is_deleted()


def test_another_array_over_the_same_buffer_is_found_too() -> None:
    import jax

    buffer = matrices()[0]
    again = jax.device_put(buffer, buffer.device)
    assert again is not buffer
    with pytest.raises(HlopassError, match="the same buffer"):
        run(BY_FLOW, [buffer, again])


def test_what_is_not_donated_may_enter_twice() -> None:
    mine, compiler = prepared(swap("", ""))
    buffer = matrices()[0]
    found, made = runs.run_donated(
        compiler.donated(mine), mine.program.arguments, mine.donations, [buffer, buffer], LABEL
    )
    assert found == [] and len(made) == 2


def test_a_view_of_numpy_is_named() -> None:
    buffers = matrices()
    view = np.asarray(buffers[0])[3:]
    first, second = run(BY_FLOW, buffers)
    reason = "the runtime kept the argument's buffer: a numpy array is a view of it"
    assert (first.verdict, first.reason) == ("copied", reason)
    assert second.verdict == "reused"
    assert view.shape == (61, 64) and np.all(view == 1)


def test_a_view_of_dlpack_leaves_no_trace_but_the_buffer() -> None:
    buffers = matrices()
    view = np.from_dlpack(buffers[1])
    first, second = run(BY_FLOW, buffers)
    assert first.verdict == "reused"
    assert second.verdict == "copied"
    assert second.reason is not None and second.reason.endswith("as a view of dlpack does")
    assert np.all(view == 2)


def test_a_view_of_another_array_is_no_reason() -> None:
    buffers, other = matrices(), matrices()
    view, held = np.asarray(other[0]), np.from_dlpack(buffers[0])
    first, _ = run(BY_FLOW, buffers)
    assert first.evidence.held_by == "other"
    assert np.array_equal(view, held)


def test_a_view_that_is_gone_holds_nothing() -> None:
    buffers = matrices()
    assert np.asarray(buffers[0]).sum() == 64 * 64
    assert [each.verdict for each in run(BY_FLOW, buffers)] == ["reused", "reused"]


def test_the_same_program_with_and_without_donation_is_compiled_as_two() -> None:
    mine, compiler = prepared(STEP)
    donated, plain = compiler.donated(mine), compiler.plain(mine)
    assert compiler.count == 2
    assert (donated.facts.aliases, plain.facts.aliases) == ({0: 0}, {})
    assert compiler.donated(mine) is donated and compiler.plain(mine) is plain
    assert compiler.count == 2
    undonated = formats.read(STEP.encode(), LABEL)
    donation_attrs.strip(undonated)
    program, devices, found = work.read(Job(LABEL), formats.write(undonated, "bytecode"))
    bare = work.prepared(program, devices, found)
    assert compiler.donated(bare) is compiler.plain(bare) is not donated
    (kept,) = place([np.ones(4, np.float32)])
    run_sharded(plain.loaded, [kept], LABEL)
    assert not kept.is_deleted()
    run_sharded(donated.loaded, [kept], LABEL)
    assert kept.is_deleted()


def test_arrays_on_one_device_are_never_shared_with_numpy() -> None:
    array = np.ones(1024, np.float32)
    buffer = on_device(array, client_of("cpu", 1).local_devices()[0])
    array[:] = 5
    assert np.all(np.asarray(buffer) == 1)
