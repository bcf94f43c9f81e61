"""What the proof relies on in jaxlib, XLA and PJRT: a new jaxlib that breaks one fails here.

Each test is one line of FACTS.md, run in this process on a CPU client.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from jaxlib import xla_client
from proof_programs import ALIAS_0, ALIAS_1, BY_FLOW, CROSSED, DONOR, swap

from hlopass.diagnostics import HlopassError
from hlopass.jaxlib_compat import hlo_module_text
from hlopass.proof import evidence, placing
from hlopass.proof.client import client_of, compile_module, run_executable
from hlopass.proof.evidence import Compiled

IN_PLACE = """
func.func @main(%w: tensor<4096xf32> {tf.aliasing_output = 0 : i32}) -> tensor<4096xf32> {
  %0 = stablehlo.add %w, %w : tensor<4096xf32>
  func.return %0 : tensor<4096xf32>
}
"""


@functools.cache
def compiled(text: str) -> Any:
    return compile_module(client_of("cpu", 1), text.encode(), "fact.mlir")


def facts(text: str) -> Compiled:
    return evidence.read(compiled(text))


def refused(text: str) -> str:
    """What XLA says where it refuses a program."""
    with pytest.raises(HlopassError) as error:
        compiled(text)
    return str(error.value)


def header(text: str) -> str:
    return hlo_module_text(compiled(text).hlo_modules()[0]).partition("\n")[0]


def pointer(buffer: Any) -> int:
    return int(buffer.unsafe_buffer_pointer())


def program(arguments: Sequence[str], results: Sequence[str], module: str = "") -> str:
    """A `main` with arguments of those types and attributes, that returns zeros."""
    named = ", ".join(f"%a{i}: {type_}" for i, type_ in enumerate(arguments))
    listed = ", ".join(results)
    zeros = "\n".join(
        f"    %r{i} = stablehlo.constant dense<{'0.0' if 'f' in type_ else '0'}> : {type_}"
        for i, type_ in enumerate(results)
    )
    names = ", ".join(f"%r{i}" for i in range(len(results)))
    return f"""module attributes {{{module}}} {{
  func.func @main({named}) -> ({listed}) {{
{zeros}
    func.return {names} : {listed}
  }}
}}
"""


def one(attribute: str, result: str = "tensor<4xf32>") -> str:
    """An argument of 16 bytes with that attribute, and one result."""
    return program([f"tensor<4xf32> {{{attribute}}}"], [result])


# How XLA reads the attributes


@pytest.mark.parametrize("integer", ["i8", "i32", "i64", "ui32", "index"])
def test_an_alias_is_any_integer(integer: str) -> None:
    assert facts(one(f"tf.aliasing_output = 0 : {integer}")).aliases == {0: 0}


def test_an_alias_may_alias() -> None:
    assert "input_output_alias={ {}: (0, {}, may-alias) }" in header(
        one("tf.aliasing_output = 0 : i32")
    )


@pytest.mark.parametrize(
    "attribute",
    [
        'tf.aliasing_output = "0"',
        "tf.aliasing_output = 0.0 : f32",
        "jax.buffer_donor",
        "jax.buffer_donor = 1 : i32",
        "jax.bufer_donor = true",
        'mhlo.sharding = "garbage"',
    ],
)
def test_other_spellings_are_ignored_in_silence(attribute: str) -> None:
    assert facts(one(attribute)).aliases == {}


@pytest.mark.parametrize("value", ["true", "false"])
def test_a_donor_is_any_boolean(value: str) -> None:
    assert facts(one(f"jax.buffer_donor = {value}")).aliases == {0: 0}


def test_alias_and_donor_on_one_argument_are_refused() -> None:
    said = refused(one("tf.aliasing_output = 0 : i32, jax.buffer_donor = true"))
    assert "already aliased" in said


def test_two_arguments_for_one_result_are_refused() -> None:
    alias = "tensor<4xf32> {tf.aliasing_output = 0 : i32}"
    assert "already aliased" in refused(program([alias, alias], ["tensor<4xf32>"]))


def test_a_result_that_is_not_there_is_refused() -> None:
    argument = "tensor<4xf32> {tf.aliasing_output = 7 : i32}"
    assert "invalid index" in refused(program([argument], ["tensor<4xf32>"] * 2))


OTHER_FUNCTION = """
func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = func.call @other(%a) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}
func.func private @other(%a: tensor<4xf32> {tf.aliasing_output = 0 : i32}) -> tensor<4xf32> {
  %0 = stablehlo.add %a, %a : tensor<4xf32>
  func.return %0 : tensor<4xf32>
}
"""


def test_only_main_is_read() -> None:
    assert facts(OTHER_FUNCTION).aliases == {}
    assert "main function" in refused(IN_PLACE.replace("@main", "@step"))


@pytest.mark.parametrize(
    "result", ["tensor<4xi32>", "tensor<2x2xf32>", "tensor<2xf64>", "tensor<16xi8>"]
)
def test_only_the_bytes_must_agree(result: str) -> None:
    assert facts(one("tf.aliasing_output = 0 : i32", result)).aliases == {0: 0}


@pytest.mark.parametrize(
    "result", ["tensor<5xf32>", "tensor<3xf32>", "tensor<4xf64>", "tensor<f32>"]
)
def test_other_sizes_are_refused(result: str) -> None:
    assert "same size" in refused(one("tf.aliasing_output = 0 : i32", result))


TABLE = (
    'mhlo.input_output_alias = [{{alias = {{kind = "{kind}", parameter_index = array<i64>, '
    "parameter_number = 1 : i64}}, output_index = array<i64: 1>}}]"
)
TWO = ["tensor<4xf32> {tf.aliasing_output = 0 : i32}", "tensor<4xf32>"]


@pytest.mark.parametrize("kind", ["may_alias", "must_alias"])
def test_the_modules_table_replaces_every_argument_alias(kind: str) -> None:
    text = program(TWO, ["tensor<4xf32>"] * 2, TABLE.format(kind=kind))
    assert facts(text).aliases == {1: 1}
    assert f"(1, {{}}, {kind.replace('_', '-')})" in header(text)


def test_an_empty_table_replaces_nothing() -> None:
    text = program(TWO, ["tensor<4xf32>"] * 2, "mhlo.input_output_alias = []")
    assert facts(text).aliases == {0: 0}


def test_the_modules_table_leaves_donors_alone() -> None:
    donor = ["tensor<4xf32> {jax.buffer_donor = true}", "tensor<4xf32>"]
    text = program(donor, ["tensor<4xf32>"] * 2, TABLE.format(kind="may_alias"))
    assert facts(text).aliases == {0: 0, 1: 1}


# How XLA pairs donors


def sized(count: int, attribute: str = "jax.buffer_donor = true") -> str:
    return f"tensor<{count}xf32> {{{attribute}}}"


def test_donors_are_paired_where_sizes_are_equal() -> None:
    text = program(
        [sized(4), sized(8), sized(16)], ["tensor<8xf32>", "tensor<4xi32>", "tensor<2xf32>"]
    )
    assert facts(text).aliases == {0: 1, 1: 0}


def test_a_larger_donor_serves_no_smaller_result() -> None:
    assert facts(program([sized(8)], ["tensor<4xf32>"])).aliases == {}


def test_donors_of_one_size_are_paired_whatever_their_data_flow() -> None:
    assert facts(swap(DONOR, DONOR)).aliases == {0: 0, 1: 1}


def test_a_donor_takes_no_result_that_an_alias_has() -> None:
    assert facts(program([sized(4), TWO[0]], ["tensor<4xf32>"])).aliases == {1: 0}


def test_an_unpaired_donor_is_not_deleted() -> None:
    donors = [sized(4), sized(8)]
    buffers = placed(np.ones(4, np.float32), np.ones(8, np.float32))
    run_executable(compiled(program(donors, ["tensor<4xf32>"])), buffers, "fact.mlir")
    assert [each.is_deleted() for each in buffers] == [True, False]


# What a compiled program says of itself


def test_the_header_has_the_alias_table() -> None:
    text = program(
        [sized(n, f"tf.aliasing_output = {12 - n} : i32") for n in range(1, 12)],
        ["tensor<f32>", *(f"tensor<{12 - n}xf32>" for n in range(1, 12))],
    )
    assert facts(text).aliases == {n - 1: 12 - n for n in range(1, 12)}
    assert header(text).startswith("HloModule ")


def test_a_single_result_has_the_empty_index() -> None:
    assert facts(one("tf.aliasing_output = 0 : i32")).aliases == {0: 0}
    assert "{ {}: (0, {}" in header(one("tf.aliasing_output = 0 : i32"))


def test_no_donation_is_no_table() -> None:
    assert "input_output_alias" not in header(one(""))
    assert facts(one("")).aliases == {}


@pytest.mark.parametrize(
    ("line", "aliases"),
    [
        ("HloModule m, input_output_alias={ {}: (0, {}, may-alias) }, entry={(f32[4])}", {0: 0}),
        (
            "HloModule m, input_output_alias={ {0}: (2, {}, must-alias), {1}: (0, {}, may-alias) }",
            {2: 0, 0: 1},
        ),
        ("HloModule m, entry_computation_layout={(f32[4]{0})->f32[4]{0}}", {}),
        ("HloModule m, buffer_donor={ (0, {}) }, entry={(f32[4]{0})->f32[4]{0}}", {}),
    ],
)
def test_tables_as_xla_writes_them(line: str, aliases: dict[int, int]) -> None:
    assert evidence.alias_table(line) == aliases


def test_pairing_the_swap_by_data_flow_costs_nothing() -> None:
    plain = facts(swap("", ""))
    assert (plain.copies, plain.temp_bytes) == (0, 0)
    by_flow = facts(BY_FLOW)
    assert (by_flow.copies, by_flow.temp_bytes) == (0, 0)
    assert by_flow.aliases == {0: 1, 1: 0}
    assert by_flow.footprint == plain.footprint - 2 * 64 * 64 * 4


@pytest.mark.parametrize("text", [CROSSED, swap(DONOR, DONOR)], ids=["jax", "xla"])
def test_pairing_the_swap_otherwise_costs_copies_and_memory(text: str) -> None:
    crossed = facts(text)
    assert crossed.copies >= 2
    assert crossed.temp_bytes >= 64 * 64 * 4
    assert crossed.footprint > facts(BY_FLOW).footprint


def test_half_of_the_swap_by_data_flow_costs_nothing() -> None:
    assert facts(swap(ALIAS_1, "")).copies == 0
    assert facts(swap(ALIAS_0, "")).copies > 0


def test_the_runtimes_own_peak_leaves_out_temporary_memory() -> None:
    """So the footprint is argument + output - alias + temp. jaxlib 0.8 has no peak."""
    stats = compiled(CROSSED).get_compiled_memory_stats()
    peak = getattr(stats, "peak_memory_in_bytes", None)
    if not peak:
        pytest.skip("this jaxlib tells no peak")
    assert peak < facts(CROSSED).footprint


# What reuse looks like


def placed(*arrays: np.ndarray) -> list[Any]:
    client_of("cpu", 1)
    return placing.place(arrays)


def zero_copy(array: np.ndarray) -> Any:
    """A buffer that is the array itself, where it is aligned to 64 bytes."""
    import jax

    device = client_of("cpu", 1).local_devices()[0]
    return xla_client.batched_device_put(
        jax.core.ShapedArray(array.shape, array.dtype),
        jax.sharding.SingleDeviceSharding(device),
        [array],
        [device],
        host_buffer_semantics=xla_client.HostBufferSemantics.ZERO_COPY,
    )


def aligned(offset: int = 0) -> np.ndarray:
    """4096 floats that start `offset` floats behind a multiple of 64 bytes."""
    raw = np.ones(4096 + 32, np.float32)
    start = (-raw.ctypes.data % 64) // 4 + offset
    return raw[start : start + 4096]


def run_in_place(buffer: Any) -> tuple[bool, bool]:
    """Whether the donated buffer is deleted, and whether the result lies where it lay."""
    before = pointer(buffer)
    (result,) = run_executable(compiled(IN_PLACE), [buffer], "fact.mlir")
    assert np.asarray(result)[0] == 2
    return bool(buffer.is_deleted()), pointer(result) == before


def test_a_buffer_of_the_clients_is_reused() -> None:
    array = aligned()
    (buffer,) = placed(array)
    assert pointer(buffer) != array.ctypes.data
    assert run_in_place(buffer) == (True, True)


def test_a_result_is_a_buffer_of_the_clients() -> None:
    (result,) = run_executable(compiled(IN_PLACE), placed(np.full(4096, 0.5, np.float32)), "")
    assert run_in_place(result) == (True, True)


def test_numpys_own_memory_is_deleted_but_not_reused() -> None:
    array = aligned()
    buffer = zero_copy(array)
    assert pointer(buffer) == array.ctypes.data
    assert run_in_place(buffer) == (True, False)


def test_an_unaligned_numpy_array_is_copied_in_and_reused() -> None:
    array = aligned(1)
    buffer = zero_copy(array)
    assert pointer(buffer) != array.ctypes.data
    assert run_in_place(buffer) == (True, True)


def test_a_buffer_that_is_looked_at_is_neither_deleted_nor_reused() -> None:
    (buffer,) = placed(aligned())
    view = np.asarray(buffer)
    assert view.ctypes.data == pointer(buffer)
    assert run_in_place(buffer) == (False, False)


def test_one_buffer_for_two_donated_arguments_is_refused() -> None:
    (buffer,) = placed(np.ones((64, 64), np.float32))
    with pytest.raises(HlopassError, match=r"(?i)donat"):
        run_executable(compiled(BY_FLOW), [buffer, buffer], "fact.mlir")
    assert not buffer.is_deleted()
    assert float(np.asarray(buffer)[0, 0]) == 1


def test_a_crossed_pairing_is_deleted_and_reused_all_the_same() -> None:
    buffers = placed(np.ones((64, 64), np.float32), np.zeros((64, 64), np.float32))
    before = [pointer(buffer) for buffer in buffers]
    results = run_executable(compiled(CROSSED), buffers, "fact.mlir")
    assert [pointer(result) for result in results] == before
    assert all(buffer.is_deleted() for buffer in buffers)


def test_serialized_executables_keep_the_table() -> None:
    client = client_of("cpu", 1)
    data = client.serialize_executable(compiled(BY_FLOW))
    from jaxlib._jax import DeviceList

    devices = DeviceList(tuple(client.local_devices()[:1]))
    again = client.deserialize_executable(data, devices, xla_client.CompileOptions())
    assert evidence.read(again).aliases == {0: 1, 1: 0}


def test_tokens_are_passed_as_arrays_of_no_elements() -> None:
    text = """
    func.func @main(%t: !stablehlo.token) -> !stablehlo.token {
      func.return %t : !stablehlo.token
    }
    """
    (result,) = run_executable(compiled(text), placed(np.zeros(0, bool)), "fact.mlir")
    assert (result.shape, result.dtype.name) == ((0,), "bool")
    with pytest.raises(xla_client.XlaRuntimeError, match="token"):
        np.asarray(result)
