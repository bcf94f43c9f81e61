"""Compiled programs that stay: compiled once, run often, donated tensors gone, nothing left."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from proof_programs import BY_FLOW, NOTHING, STEP, processes_about
from test_hostile import COMPILER_ABORTS, ENDLESS

import hlopass
from hlopass.compiled import Compiled
from hlopass.diagnostics import CompilerDied, HlopassError
from hlopass.proof import exchange

STATE = """
func.func @main(%w: tensor<4xf32> {tf.aliasing_output = 1 : i32}, %x: tensor<4xf32>)
    -> (tensor<f32> {jax.result_info = "loss"}, tensor<4xf32> {jax.result_info = "new_w"}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.add %w, %x : tensor<4xf32>
  %1 = stablehlo.reduce(%0 init: %zero) applies stablehlo.add across dimensions = [0]
    : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  func.return %1, %0 : tensor<f32>, tensor<4xf32>
}
"""
ONES = np.ones(4, np.float32)


@pytest.fixture(scope="module")
def state() -> Iterator[Compiled]:
    with hlopass.compile(STATE, label="state.mlir", timeout=60) as compiled:
        yield compiled


def code(caught: Any) -> str:
    (finding,) = caught.value.diagnostics
    return str(finding.code)


def test_it_is_known_before_there_is_data(state: Compiled) -> None:
    built = state.report
    (donation,) = built.donations
    assert (donation.verdict, donation.evidence.aliased) == ("not-run", True)
    assert (built.copies, built.devices, built.platform) == (0, 1, "cpu")
    assert built.footprint > 0


def test_who_asked_for_a_donation_is_kept() -> None:
    rewritten = hlopass.rewrite(NOTHING, donate=["w"])
    with hlopass.compile(rewritten) as compiled:
        run = compiled.run((ONES,))
        for donations in (compiled.report.donations, run.donations):
            assert [each.origin for each in donations] == ["explicit"]


def test_runs_compile_nothing_and_take_fresh_inputs(state: Compiled) -> None:
    for at in (1, 2, 3):
        out = state.run({"w": at * ONES, "x": ONES})
        assert (out["loss"].numpy(), out[1].shape) == (4 * (at + 1), (4,))
        assert np.array_equal(out["new_w"], (at + 1) * ONES)
        assert [each.verdict for each in out.donations] == ["reused"]
        transfers = out.transfers
        assert (transfers.tensors, transfers.bytes, transfers.least_bytes) == (2, 32, 32)
    assert state.compilations == 1


def test_results_go_into_the_next_run_without_moving(state: Compiled) -> None:
    w: Any = ONES
    x = state.put({"x": ONES})["x"]
    for _ in range(5):
        out = state.run({"w": w, "x": x})
        w = out["new_w"]
        assert w.numpy() is not None, "a look at a tensor keeps no view of it"
        assert out.donations[0].verdict == "reused"
    assert out.transfers.bytes == 0
    assert np.array_equal(w.numpy(), 6 * ONES)


def test_a_donated_tensor_is_gone_and_says_so(state: Compiled) -> None:
    put = state.put((ONES, ONES))
    w, x = put
    state.run(put)
    for use in (lambda: state.run({"w": w, "x": x}), lambda: state.run({"w": ONES, "x": w})):
        with pytest.raises(HlopassError, match="argument 0 'w', which is donated") as caught:
            use()
        assert code(caught) == "input-gone"
    with pytest.raises(HlopassError, match="argument 0 'w' is gone") as caught:
        w.numpy()
    assert code(caught) == "input-gone"
    assert np.array_equal(x, ONES), "it was not donated"


def test_arrays_of_python_stay(state: Compiled) -> None:
    w = ONES.copy()
    state.run({"w": w, "x": w})
    state.run({"w": w, "x": w})
    assert np.array_equal(w, ONES)


def test_a_tensor_that_enters_twice_is_refused_and_stays(state: Compiled) -> None:
    (w,) = state.put({"w": ONES})
    with pytest.raises(HlopassError, match="argument 0 'w' and argument 1 'x'") as caught:
        state.run({"w": w, "x": w})
    assert code(caught) == "input-shared"
    assert np.array_equal(w, ONES)


def test_what_has_no_data_is_listed(state: Compiled) -> None:
    for inputs, missing in (({"w": ONES}, ["x"]), (None, ["w", "x"]), ("placeholder", ["w", "x"])):
        with pytest.raises(HlopassError) as caught:
            state.run(inputs)
        assert code(caught) == "input-missing"
        notes = caught.value.diagnostics[0].notes
        assert [note.split("'")[1] for note in notes] == missing
    assert state.run("zeros")["loss"].numpy() == 0


def test_wrong_inputs_are_refused_and_it_goes_on(state: Compiled, tmp_path: Path) -> None:
    out = state.run("zeros")
    for inputs, expected in (
        ({"w": ONES.astype(np.float64), "x": ONES}, "input-type"),
        ({"w": out["loss"], "x": ONES}, "input-shape"),
        ({"v": ONES}, "argument-unknown"),
        ({"w": str(tmp_path / "none.npy")}, "file-not-found"),
    ):
        with pytest.raises(HlopassError) as caught:
            state.run(inputs)
        assert code(caught) == expected
    np.savez(tmp_path / "x.npz", w=ONES, x=ONES)
    assert state.run(tmp_path / "x.npz")["loss"].numpy() == 8


def test_a_proof_of_it_compiles_only_what_is_new() -> None:
    with hlopass.compile(STATE, timeout=60) as compiled:
        (w,) = compiled.put({"w": 2 * ONES})
        proof = hlopass.verify(compiled, inputs={"w": w, "x": ONES})
        assert proof.ok and proof.donations[0].verdict == "reused"
        assert compiled.compilations == 2, "without donation it is another program"
        assert hlopass.verify(compiled).ok
        assert compiled.compilations == 2
        assert np.array_equal(w, 2 * ONES)
        assert compiled.run({"w": w, "x": ONES})["loss"].numpy() == 12


def test_donation_is_part_of_the_key() -> None:
    with hlopass.compile(STEP) as donated, hlopass.compile(NOTHING) as plain:
        assert donated.key != plain.key
        (w,) = plain.put((ONES,))
        assert np.array_equal(plain.run((w,))[0], 2 * ONES)
        assert np.array_equal(plain.run((w,))[0], 2 * ONES), "nothing is donated"
        assert np.array_equal(donated.run((w,))[0], 2 * ONES), "a tensor of another program"
    with hlopass.compile(STEP) as again:
        assert again.key == donated.key


def test_types_that_numpy_lacks_cross_both_ways() -> None:
    text = STEP.replace("4xf32", "2x3xbf16")
    array = np.arange(6).reshape(2, 3).astype(ml_dtypes.bfloat16)
    with hlopass.compile(text) as compiled:
        found = compiled.run({"w": array.T.copy().T})[0].numpy()
    assert (found.dtype, found.tolist()) == (array.dtype, (array + array).tolist())
    found[:] = 0


def test_sharded_results_are_fed_back_where_they_lie() -> None:
    text = """
module attributes {mhlo.num_partitions = 4 : i32} {
  sdy.mesh @mesh = <["x"=4]>
  func.func @main(
      %w: tensor<8x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>,
                           tf.aliasing_output = 0 : i32},
      %b: tensor<2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>})
      -> (tensor<8x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
          tensor<8x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
    %0 = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<2xf32>) -> tensor<8x2xf32>
    %1 = stablehlo.add %w, %0 : tensor<8x2xf32>
    func.return %1, %1 : tensor<8x2xf32>, tensor<8x2xf32>
  }
}
"""
    start = np.arange(16, dtype=np.float32).reshape(8, 2)
    with hlopass.compile(text) as compiled:
        assert compiled.report.devices == 4
        out = compiled.run({"w": start, "b": ONES[:2]})
        assert (out.transfers.bytes, out.transfers.least_bytes) == (64 + 4 * 8, 96)
        assert out.donations[0].evidence.same_buffer == (True,) * 4
        again = compiled.run({"w": out[0], "b": ONES[:2]})
        assert again.transfers.bytes == 4 * 8
        assert again.donations[0].verdict == "reused"
        whole = compiled.run({"w": again[1], "b": ONES[:2]})
        assert whole.transfers.bytes == 64 + 4 * 8, "it lay whole on each device"
        assert np.array_equal(whole[0], start + 3)
        with pytest.raises(HlopassError, match="result 1 is gone"):
            again[1].numpy()


def test_tensors_that_nobody_holds_are_freed(state: Compiled) -> None:
    before = len(state._link.freed)
    for _ in range(3):
        state.run({"w": ONES, "x": ONES})
    gc.collect()
    assert len(state._link.freed) - before <= 4, "each request takes those of the last one along"


# Its process


@pytest.fixture
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where temporary folders are made now."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(exchange, "MEMORY", tmp_path)
    return tmp_path


def test_a_program_that_does_not_compile_leaves_nothing(folders: Path) -> None:
    for text, kind in (
        (STEP.replace("add", "adds"), HlopassError),
        (COMPILER_ABORTS, CompilerDied),
    ):
        with pytest.raises(kind):
            hlopass.compile(text)
    assert not list(folders.iterdir())


def test_a_closed_one_says_so_and_leaves_nothing(folders: Path) -> None:
    with hlopass.compile(STEP) as compiled:
        (out,) = compiled.run((ONES,))
        folder = compiled._link.folder
        assert processes_about(str(folder))
    compiled.close()
    assert not processes_about(str(folder))
    assert not list(folders.iterdir())
    for use in (lambda: compiled.run((ONES,)), out.numpy):
        with pytest.raises(HlopassError, match="it was closed") as caught:
            use()
        assert code(caught) == "compiled-closed"


def test_one_that_is_dropped_ends_too() -> None:
    compiled = hlopass.compile(STEP)
    folder = str(compiled._link.folder)
    del compiled
    gc.collect()
    assert not processes_about(folder) and not Path(folder).exists()


def test_a_run_that_never_ends_is_ended() -> None:
    with hlopass.compile(ENDLESS, timeout=60) as compiled:
        with pytest.raises(CompilerDied, match="time limit of 1 seconds ran out while running"):
            compiled.run((ONES,), timeout=1)
        with pytest.raises(HlopassError, match="any more: the time limit") as caught:
            compiled.run((ONES,))
        assert code(caught) == "compiled-closed"
        assert not processes_about(str(compiled._link.folder))


def test_a_child_that_is_killed_is_a_sentence() -> None:
    with hlopass.compile(STEP) as compiled:
        os.kill(compiled._link._child.pid, signal.SIGKILL)
        with pytest.raises(CompilerDied, match="was killed"):
            compiled.run((ONES,))
        with pytest.raises(HlopassError, match="was killed") as caught:
            compiled.run((ONES,))
        assert code(caught) == "compiled-closed"


USER = """
import os, sys, time
import numpy as np
import hlopass
compiled = hlopass.compile({step!r})
if {fork} and os.fork() == 0:
    try:
        compiled.run((np.ones(4, np.float32),))
    except hlopass.HlopassError as error:
        print(error.diagnostics[0].code, flush=True)
    del compiled
    time.sleep(60 if {end} else 0)
    sys.exit()
time.sleep(1 if {fork} else 0)
print(compiled.run((np.ones(4, np.float32),))[0].numpy()[0], compiled._link.folder, flush=True)
if {end}:
    os.kill(os.getpid(), 9)
"""


@pytest.mark.parametrize(("fork", "end"), [(False, False), (False, True), (True, False)])
def test_it_goes_with_the_process_that_made_it(fork: bool, end: bool) -> None:
    program = textwrap.dedent(USER.format(step=STEP, fork=fork, end=end))
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=60
    )
    *said, last = done.stdout.splitlines()
    assert said == ["compiled-closed"] * fork
    value, folder = last.split()
    assert value == "2.0"
    limit = time.monotonic() + 10
    while time.monotonic() < limit and (processes_about(folder) or Path(folder).exists()):
        time.sleep(0.05)
    assert not processes_about(folder) and not Path(folder).exists()
    assert done.stderr == ""


def test_an_interrupt_ends_it() -> None:
    program = textwrap.dedent(f"""
        import os, signal, threading
        import numpy as np
        import hlopass
        compiled = hlopass.compile({ENDLESS!r})
        threading.Timer(1, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        try:
            compiled.run((np.ones(4, np.float32),))
        except KeyboardInterrupt:
            print("interrupted", compiled._link.folder)
        try:
            compiled.run((np.ones(4, np.float32),))
        except hlopass.HlopassError as error:
            print(error.diagnostics[0].message)
    """)
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=60
    )
    first, second = done.stdout.splitlines()
    word, folder = first.split()
    assert word == "interrupted" and second.endswith("it was interrupted")
    assert not processes_about(folder) and not Path(folder).exists()


def test_the_pairs_of_a_swap_go_round() -> None:
    with hlopass.compile(BY_FLOW) as compiled:
        a, b = np.full((64, 64), 1, np.float32), np.full((64, 64), 2, np.float32)
        out = compiled.run((a, b))
        out = compiled.run({"a": out[0], "b": out[1]})
        assert [each.verdict for each in out.donations] == ["reused", "reused"]
        assert (out[0].numpy()[0, 0], out[1].numpy()[0, 0]) == (4, 5)
