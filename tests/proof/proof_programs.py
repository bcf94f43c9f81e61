"""Small programs that the tests of the proof share, and who runs them."""

from __future__ import annotations

import functools
import os
from pathlib import Path

from hlopass import api
from hlopass.api import Proof

SWAP = """
func.func @main(%a: tensor<64x64xf32> {A}, %b: tensor<64x64xf32> {B})
    -> (tensor<64x64xf32>, tensor<64x64xf32>) {
  %one = stablehlo.constant dense<1.0> : tensor<64x64xf32>
  %0 = stablehlo.add %b, %b : tensor<64x64xf32>
  %1 = stablehlo.add %a, %one : tensor<64x64xf32>
  func.return %0, %1 : tensor<64x64xf32>, tensor<64x64xf32>
}
"""
"""`f(a, b) = (b * 2, a + 1)`: the data of argument 0 becomes result 1."""

STEP = """
func.func @main(%w: tensor<4xf32> {tf.aliasing_output = 0 : i32}) -> tensor<4xf32> {
  %0 = stablehlo.add %w, %w : tensor<4xf32>
  func.return %0 : tensor<4xf32>
}
"""
"""One argument of 16 bytes, reused."""

DONORS = """
func.func @main(%fits: tensor<4xf32> {jax.buffer_donor = true},
                %larger: tensor<8xf32> {jax.buffer_donor = true}) -> tensor<4xi32> {
  %0 = stablehlo.convert %fits : (tensor<4xf32>) -> tensor<4xi32>
  func.return %0 : tensor<4xi32>
}
"""
"""A donor that XLA pairs, of another element type, and one that is larger than the result."""

NOTHING = STEP.replace("{tf.aliasing_output = 0 : i32}", "")
"""`STEP` without its donation."""

ALIAS_0 = "{tf.aliasing_output = 0 : i32}"
ALIAS_1 = "{tf.aliasing_output = 1 : i32}"
DONOR = "{jax.buffer_donor = true}"


def swap(first: str, second: str) -> str:
    """`SWAP` with those attributes on its arguments."""
    return SWAP.replace("{A}", first).replace("{B}", second)


CROSSED = swap(ALIAS_0, ALIAS_1)
"""The swap as JAX pairs it: reused, at the cost of copies."""

BY_FLOW = swap(ALIAS_1, ALIAS_0)
"""The swap as its data flows."""


@functools.cache
def verified(text: str, mode: str = "run", entry: str | None = None) -> Proof:
    """The proof of a program, with nothing required; each program runs once in a session."""
    return api.verify(
        text, require="none", mode=mode, entry=entry, label="program.mlir", timeout=60
    )


def processes_about(word: str) -> list[int]:
    """The processes, but for this one, that have `word` in their command line."""
    found = []
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit() or int(folder.name) == os.getpid():
            continue
        try:
            command = (folder / "cmdline").read_bytes()
            ended = (folder / "stat").read_text().rpartition(")")[2].split()[0] == "Z"
        except OSError:
            continue
        if word.encode() in command and not ended:
            found.append(int(folder.name))
    return found
