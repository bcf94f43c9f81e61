"""Blobs of jax.export: in, out with all else intact, and called so that buffers are reused."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from jax import export

import hlopass
from hlopass.diagnostics import HlopassError
from hlopass.formats import jax_export, portable
from hlopass.proof.donating import order_of

FIELDS = (
    *("fun_name", "in_tree", "in_avals", "out_tree", "out_avals", "platforms", "nr_devices"),
    *("ordered_effects", "calling_convention_version", "module_kept_var_idx"),
    "uses_global_constants",
)


def step(state: Any, x: Any, unused: Any) -> Any:
    m = 0.9 * state["m"] + jnp.outer(x, x)
    return x.sum(), {"w": state["w"] - m, "m": m}


def arguments() -> Any:
    w = jax.random.normal(jax.random.key(0), (64, 64))
    return {"w": w, "m": w + 1}, jnp.ones(64), jnp.ones(3)


@pytest.fixture(name="exported", scope="module")
def exported_step() -> Any:
    return export.export(jax.jit(step))(*arguments())


@pytest.fixture(name="blob", scope="module")
def blob_of_step(exported: Any) -> bytes:
    return bytes(exported.serialize())


def reused(call: Any) -> bool:
    """Whether a call deletes the state, and gives the new one at the same places."""
    state, x, unused = arguments()
    before = {name: leaf.unsafe_buffer_pointer() for name, leaf in state.items()}
    expected = step(*arguments())
    loss, new = call(state, x, unused)
    assert loss == expected[0] and all(jnp.allclose(new[n], expected[1][n], atol=1e-5) for n in new)
    return all(
        state[name].is_deleted() and new[name].unsafe_buffer_pointer() == before[name]
        for name in before
    )


def test_a_blob_goes_out_as_a_blob(exported: Any, blob: bytes) -> None:
    out = hlopass.rewrite(blob, donate=["state*"]).data()
    loaded = export.deserialize(bytearray(out))
    assert all(getattr(loaded, name) == getattr(exported, name) for name in FIELDS)
    version = portable.version_of(exported.mlir_module_serialized)
    assert portable.version_of(loaded.mlir_module_serialized) == version
    again = hlopass.rewrite(out, donate=["state*"])
    assert not again.changed and again.data() == out
    assert [each.argument.name for each in again.donations] == ["state['m']", "state['w']"]


def test_all_but_the_module_is_the_same_bytes(blob: bytes) -> None:
    out = hlopass.rewrite(blob, donate=["state*"]).data()
    before, after = jax_export.held(blob), jax_export.held(out)
    assert before is not None and after is not None and before.field == after.field
    skipped = {*range(before.field, before.field + 4), *range(before.start - 4, before.end)}
    assert [at for at in range(len(blob)) if blob[at] != out[at] and at not in skipped] == []


def test_a_module_that_shrinks_or_grows_stays_in_place(blob: bytes) -> None:
    large = hlopass.rewrite(blob, donate=["state*"]).data()
    small = hlopass.rewrite(large, automatic="off").data()
    assert len(small) == len(large)
    larger = jax_export.with_module(large, b"ML\xefR" + bytes(5000))
    largest = jax_export.with_module(larger, b"ML\xefR" + bytes(6000))
    assert len(larger) - len(large) < 5000 and len(largest) - len(larger) <= 1004
    for each in (small, jax_export.with_module(larger, jax_export.module_of(large))):
        assert export.deserialize(bytearray(each)).fun_name == "step"


def test_other_formats_come_out_of_a_blob_and_none_goes_in(blob: bytes) -> None:
    text = hlopass.convert(blob, "text")
    assert b"state['w']" in text
    with pytest.raises(HlopassError) as caught:
        hlopass.convert(text, "jax-export")
    assert caught.value.diagnostics[0].code == "jax-export-lost"
    packed = hlopass.convert(blob, "jax-export.gz")
    assert export.deserialize(bytearray(hlopass.rewrite(packed).data("jax-export")))
    assert hlopass.inspect(blob).arguments == hlopass.inspect(text).arguments


def test_a_call_reuses_the_buffers(exported: Any) -> None:
    rewritten = hlopass.rewrite(exported, donate=["state*"])
    donated = rewritten.exported()
    assert not reused(jax.jit(donated.call)), "a plain call donates nothing"
    call = hlopass.donating(donated)
    assert reused(call) and reused(call)


def test_a_call_pairs_as_the_program_says() -> None:
    def swap(a: Any, b: Any, c: Any) -> Any:
        return b * 2, c + 1, a + 1

    values = [jnp.arange(8.0) + index for index in range(3)]
    exported = export.export(jax.jit(swap))(*values)
    rewritten = hlopass.rewrite(exported, donate=[0, {"arg": 1, "result": 0}])
    before = [value.unsafe_buffer_pointer() for value in values]
    results = hlopass.donating(rewritten.exported())(*values)
    places = [result.unsafe_buffer_pointer() for result in results]
    assert places[2] == before[0] and places[0] == before[1]
    assert [value.is_deleted() for value in values] == [True, True, False]
    assert [float(result[0]) for result in results] == [2.0, 3.0, 1.0]


def test_several_platforms_and_unused_arguments(exported: Any) -> None:
    both = export.export(jax.jit(step), platforms=["cpu", "cuda"])(*arguments())
    rewritten = hlopass.rewrite(both, donate=["state*"])
    order = order_of(rewritten.program, both.module_kept_var_idx, len(both.in_avals))
    assert order.donated == 2 and order.arguments == (0, 1, 2, 3)
    assert reused(hlopass.donating(rewritten.exported()))


def test_wrong_arguments_are_diagnosed(exported: Any) -> None:
    call = hlopass.donating(hlopass.rewrite(exported, donate=["state*"]).exported())
    for attempt in (lambda: call(1), lambda: hlopass.donating(3), _not_exported):
        with pytest.raises(HlopassError) as caught:
            attempt()
        assert caught.value.diagnostics[0].code in ("arguments-differ", "source-type")


def _not_exported() -> None:
    hlopass.rewrite("func.func @main() { return }").exported()


def test_saved_and_called_in_another_process(blob: bytes, tmp_path: Path) -> None:
    path = tmp_path / "step.bin"
    path.write_bytes(hlopass.rewrite(blob, donate=["state*"]).data())
    code = (
        "import sys, hlopass; from jax import export; from test_jax_export import reused\n"
        "loaded = export.deserialize(bytearray(open(sys.argv[1], 'rb').read()))\n"
        "print(reused(hlopass.donating(loaded)))"
    )
    tests = str(Path(__file__).parent)
    command = [
        sys.executable,
        "-c",
        f"import sys; sys.path.insert(0, {tests!r})\n{code}",
        str(path),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout == "True\n", done.stderr


def test_truncated_blobs_are_refused(blob: bytes) -> None:
    where = jax_export.held(blob)
    assert where is not None
    for end in range(1, where.end, 7):
        with pytest.raises(HlopassError):
            hlopass.inspect(blob[:end])


def test_rewriting_a_blob_does_not_load_jax(blob: bytes, tmp_path: Path) -> None:
    path = tmp_path / "step.bin"
    path.write_bytes(blob)
    code = (
        "import sys, hlopass; r = hlopass.rewrite(sys.argv[1], donate=['state*']); r.data()\n"
        "print(r.changed, 'jax' in sys.modules)"
    )
    command = [sys.executable, "-c", code, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout == "True False\n", done.stderr
