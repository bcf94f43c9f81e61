"""Names of arguments and results, wherever a frontend left them."""

from __future__ import annotations

import pytest

import hlopass

PROGRAM = """
func.func @main(%w: tensor<4xf32> {{{attribute}}} {location}) -> (tensor<4xf32> {{{result}}}) {{
  return %w : tensor<4xf32>
}}
"""


def named(attribute: str = "", location: str = "", result: str = "") -> tuple[str | None, ...]:
    """The argument's name and what gave it, then the result's."""
    text = PROGRAM.format(attribute=attribute, location=location, result=result)
    found = hlopass.inspect(text)
    (argument,), (made,) = found.arguments, found.results
    return argument.name, argument.named_by, made.name, made.named_by


INDEX_PATH = 'tf_saved_model.index_path = ["params", "dense", 0]'


@pytest.mark.parametrize(
    ("attribute", "location", "expected"),
    [
        ("", "", ("w", "SSA name")),
        ("", 'loc("state")', ("state", "location")),
        ("", 'loc(fused["state", "f.py":1:2])', ("state", "location")),
        ("", 'loc(fused["f.py":1:2, fused["b", "c"]])', ("b", "location")),
        ('jax.arg_info = "x"', 'loc("state")', ("x", "jax.arg_info")),
        ('ttir.name = "args_0"', "", ("args_0", "ttir.name")),
        (INDEX_PATH, 'loc("state")', ("params.dense.0", "tf_saved_model.index_path")),
        ('jax.arg_info = ""', 'loc("state")', ("state", "location")),
        ("jax.arg_info = 3", "", ("w", "SSA name")),
        ("tf_saved_model.index_path = []", "", ("w", "SSA name")),
    ],
)
def test_arguments(attribute: str, location: str, expected: tuple[str, str]) -> None:
    assert named(attribute, location)[:2] == expected


@pytest.mark.parametrize(
    ("attribute", "expected"),
    [
        ("", (None, None)),
        ('jax.result_info = "new"', ("new", "jax.result_info")),
        (INDEX_PATH, ("params.dense.0", "tf_saved_model.index_path")),
        ('ttir.name = "out"', ("out", "ttir.name")),
    ],
)
def test_results(attribute: str, expected: tuple[str | None, str | None]) -> None:
    assert named(result=attribute)[2:] == expected


def test_manifests_use_these_names() -> None:
    text = PROGRAM.format(attribute=INDEX_PATH, location="", result="")
    assert hlopass.rewrite(text, donate=["params.dense.*"]).changed
