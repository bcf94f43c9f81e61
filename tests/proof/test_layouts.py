"""Arguments whose layout the program chooses, and programs that wait for the host."""

from __future__ import annotations

import numpy as np
import pytest
from proof_programs import verified

from hlopass.diagnostics import HlopassError
from hlopass.proof import inputs, placing
from hlopass.proof.client import client_of, compile_module, parameter_layouts, run_executable
from hlopass.proof.refusal import refusal

TRANSPOSED = """
func.func @main(%a: tensor<4x8x{T}> {tf.aliasing_output = 0 : i32, mhlo.layout_mode = "{L}"})
    -> (tensor<8x4x{T}> {mhlo.layout_mode = "{L}"}) {
  %0 = stablehlo.transpose %a, dims = [1, 0] : (tensor<4x8x{T}>) -> tensor<8x4x{T}>
  func.return %0 : tensor<8x4x{T}>
}
"""


def transposed(element: str, layout: str) -> str:
    return TRANSPOSED.replace("{T}", element).replace("{L}", layout)


@pytest.mark.parametrize("layout", ["auto", "{0,1}", "{1,0}", "default"])
@pytest.mark.parametrize("element", ["f32", "f64", "bf16"])
def test_inputs_lie_as_the_program_reads_them(element: str, layout: str) -> None:
    client = client_of("cpu", 1)
    executable = compile_module(client, transposed(element, layout).encode(), "t.mlir")
    array = np.arange(32).reshape(4, 8) % 8
    array = array.astype(inputs.dtype_of(f"tensor<{element}>"))
    buffers = placing.place([array], parameter_layouts(executable))
    before = buffers[0].unsafe_buffer_pointer()
    (result,) = run_executable(executable, buffers, "t.mlir")
    assert result.unsafe_buffer_pointer() == before
    assert np.array_equal(np.asarray(result), array.T)


def test_an_alias_that_changes_the_chosen_layout_changes_no_result() -> None:
    proof = verified(transposed("f32", "auto"))
    assert proof.ok
    assert proof.report.results_equal is True


@pytest.mark.parametrize(
    ("operation", "name"),
    [
        (
            '%0:2 = "stablehlo.infeed"(%t) {infeed_config = ""} '
            ": (!stablehlo.token) -> (tensor<4xf32>, !stablehlo.token)\n return %0#0",
            "infeed",
        ),
        (
            '%0 = "stablehlo.outfeed"(%a, %t) {outfeed_config = ""} '
            ": (tensor<4xf32>, !stablehlo.token) -> !stablehlo.token\n return %a",
            "outfeed",
        ),
    ],
)
def test_a_program_that_waits_for_the_host_is_not_run(operation: str, name: str) -> None:
    text = (
        "func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {\n"
        f"  %t = stablehlo.create_token : !stablehlo.token\n {operation} : tensor<4xf32>\n}}\n"
    )
    with pytest.raises(HlopassError) as error:
        verified(text)
    (found,) = error.value.diagnostics
    assert found.code == "host-transfer"
    assert name in found.message


def test_codes_are_words_whatever_was_tried() -> None:
    assert refusal("INTERNAL: no", "place the inputs of", "t.mlir").code == "run-failed"
