"""XLA's messages, as jaxlib 0.8.0 to 0.10.2 gave them, made one sentence."""

from __future__ import annotations

import pytest

from hlopass.proof.refusal import custom_call_targets, refusal

MLIR_ERROR = """UNKNOWN: -:0:0: error: dialect 'foo' is unknown. If this is intended, please call \
allowUnregisteredDialects() on the MLIRContext, or use -allow-unregistered-dialect.
-:0:0: note: in bytecode version 6 produced by: MLIR23.0.0git
<unknown>:0: error: Failed to parse using StableHLO v1.17.0, this could indicate forward \
incompatibility.
"""
CHECK = (
    "INTERNAL: RET_CHECK failure (external/xla/xla/hlo/ir/hlo_input_output_alias_config.cc:55) "
    "ShapeUtil::IndexIsValid(alias_.shape(), output_index) Trying to set up alias at {7} which "
    "is an invalid index for shape (f32[4], f32[8])"
)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (MLIR_ERROR, "dialect 'foo' is unknown"),
        (
            "UNKNOWN: 0:0: error: dialect 'foo' is unknown. If this is intended, call",
            "dialect 'foo' is unknown",
        ),
        (
            "UNKNOWN: <unknown>:0: error: 'tensor.insert_slice' op unsupported op for export\n"
            "<unknown>:0: note: see current operation: %163",
            "'tensor.insert_slice' op unsupported op for export",
        ),
        (
            "UNKNOWN: <unknown>:0: error: UNIMPLEMENTED: Only dense elements attr are supported\n",
            "only dense elements attr are supported",
        ),
        (
            '#foo<a b>:1:1: error: #"foo"<"a b"> : \'none\' attribute. If this is intended',
            '#"foo"<"a b"> : \'none\' attribute',
        ),
        (
            CHECK,
            "trying to set up alias at {7} which is an invalid index for shape (f32[4], f32[8])",
        ),
        (
            "INVALID_ARGUMENT: E0102: RuntimeProgramInputMismatch:\nExecutable(main) expected "
            "parameter 0 of size 0\nSee https://openxla.org/xla/errors/error_0102 for more.",
            "executable(main) expected parameter 0 of size 0",
        ),
        (
            "INVALID_ARGUMENT: HLO `add` does not fit. Python Code Location: step.py:3",
            "HLO 'add' does not fit",
        ),
        ("INVALID_ARGUMENT: No good Suspected Python Code Location: step.py", "no good"),
        ("INTERNAL: ", "no reason given"),
        ("", "no reason given"),
        ("x" * 1000, "x" * 300 + " ..."),
    ],
)
def test_one_sentence_is_left(text: str, sentence: str) -> None:
    found = refusal(text, "compile", "step.mlir")
    assert str(found) == (
        f"step.mlir: error: XLA cannot compile the program: {sentence} [compile-failed]"
    )


def test_a_place_in_the_users_file_is_kept() -> None:
    found = refusal("UNKNOWN: model.py:10:3: error: No good", "compile", "step.mlir")
    assert found.message == "XLA cannot compile the program: no good"
    assert found.notes == ("at model.py:10:3",)


@pytest.mark.parametrize(
    "text",
    [
        "RESOURCE_EXHAUSTED: Out of memory allocating 4000 bytes.",
        "INTERNAL: Buffer Definition Event: Error preparing computation: Out of memory allocating "
        "4000 bytes.",
    ],
)
def test_too_little_memory_has_its_own_code(text: str) -> None:
    assert str(refusal(text, "run", "step.mlir")) == (
        "step.mlir: error: XLA cannot run the program: out of memory allocating 4000 bytes "
        "[out-of-memory]"
    )


@pytest.mark.parametrize(
    "text",
    [
        "NOT_FOUND: No registered implementation for untyped custom call to my_call for Host",
        "NOT_FOUND: No FFI handler registered for my_call on a platform Host (canonical host)",
        "UNIMPLEMENTED: No registered implementation for untyped custom call to my_call for Host",
    ],
)
def test_missing_custom_calls_are_named(text: str) -> None:
    found = refusal(text, "compile", "step.mlir", ["my_call", "other"])
    assert (found.code, found.message) == (
        "custom-call-missing",
        "the CPU has no custom call target 'my_call'",
    )
    assert found.notes == ("the program also calls 'other', which jaxlib does not register",)
    assert refusal(text, "compile", "step.mlir", ["my_call"]).notes == ()


def test_the_targets_of_a_module_are_found() -> None:
    text = """
      %0 = stablehlo.custom_call @plain(%x) : (tensor<4xf32>) -> tensor<4xf32>
      %1 = stablehlo.custom_call @"with.dots"(%0) : (tensor<4xf32>) -> tensor<4xf32>
      %2 = "mhlo.custom_call"(%1) {call_target_name = "generic"} : (tensor<4xf32>) -> tensor<4xf32>
      %3 = stablehlo.custom_call @plain(%x) : (tensor<4xf32>) -> tensor<4xf32>
    """
    assert custom_call_targets(text) == ["plain", "with.dots", "generic"]
