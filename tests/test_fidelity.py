"""What is written is held against what came."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from typing import Any

import pytest
from test_hlo import STEP as HLO
from test_hlo import TUPLES

import hlopass
from hlopass import fidelity
from hlopass.diagnostics import HlopassError, UsageError

STEP = """
module @m {
  func.func @main(%w: tensor<8x4xf32> loc("w"), %g: tensor<8x4xf32> loc("g")) -> tensor<8x4xf32> {
    %0 = stablehlo.subtract %w, %g {note = "kept"} : tensor<8x4xf32> loc("sub")
    %1 = stablehlo.negate %0 : tensor<8x4xf32>
    return %1 : tensor<8x4xf32>
  }
}
"""
SPEC: dict[str, Any] = {"mesh": {"x": 2}, "args": {"0": ["x", None]}}


def held(source: str | bytes, change: Callable[[bytes], bytes], **options: Any) -> None:
    rewritten = hlopass.rewrite(source, **options)
    rewritten.check_faithful(change(rewritten.data()))


@pytest.mark.parametrize("format", ["text", "bytecode", "portable", "text.gz"])
@pytest.mark.parametrize("options", [{"donate": [0]}, {"shard": SPEC}, {}])
def test_what_is_written_of_stablehlo_is_what_came(format: str, options: Any) -> None:
    rewritten = hlopass.rewrite(hlopass.convert(STEP, format), **options)
    rewritten.check_faithful(rewritten.data())
    rewritten.check_faithful(rewritten.data("bytecode"))


@pytest.mark.parametrize("format", ["hlo", "hlo-proto", "hlo-pbtxt", "hlo-dump", "hlo-proto.gz"])
@pytest.mark.parametrize("options", [{"automatic": "repair"}, {"shard": SPEC}])
@pytest.mark.parametrize("source", [HLO, TUPLES])
def test_what_is_written_of_hlo_is_what_came(source: str, format: str, options: Any) -> None:
    if source == TUPLES and "shard" in options:
        options = {"shard": {"mesh": {"x": 2}, "args": {"2": "replicated"}}}
    rewritten = hlopass.rewrite(hlopass.convert(source, format), **options)
    rewritten.check_faithful(rewritten.data())


@pytest.mark.parametrize(
    ("source", "old", "new"),
    [
        (STEP, "subtract", "add"),
        (STEP, '"kept"', '"lost"'),
        (STEP, '"sub"', '"other"'),
        (STEP, "module @m", "module @n"),
        (STEP, "negate", "abs"),
        (HLO, "// a comment", "// another comment"),
        (HLO, "source_line=3", "source_line=4"),
        (HLO, "is_scheduled=true, ", ""),
        (HLO, "NobodyKnows", "Somebody"),
    ],
)
def test_any_other_change_is_found(source: str, old: str, new: str) -> None:
    def change(data: bytes) -> bytes:
        assert old.encode() in data
        return data.replace(old.encode(), new.encode())

    for options in ({"donate": [0]}, {"shard": SPEC}):
        with pytest.raises(HlopassError) as caught:
            held(source, change, **options)
        (found,) = caught.value.diagnostics
        assert found.code == "not-faithful" and len(found.notes) == 2
        assert found.notes[0] != found.notes[1]


def test_a_sharding_counts_where_none_was_asked_for() -> None:
    sharded = hlopass.rewrite(STEP, shard=SPEC).data()
    with pytest.raises(HlopassError, match="not-faithful"):
        fidelity.check(STEP.encode(), sharded, "m")
    fidelity.check(STEP.encode(), sharded, "m", sharding=True)


def test_a_message_is_held_field_by_field() -> None:
    data = hlopass.convert(HLO, "hlo-proto")
    changed = hlopass.convert(HLO.replace("source_line=3", "source_line=4"), "hlo-proto")
    with pytest.raises(HlopassError, match="source_line"):
        fidelity.check(data, changed, "m")
    fidelity.check(gzip.compress(data), data, "m")


@pytest.mark.parametrize(
    ("options", "emit"),
    [
        ({"pipeline": "strip-sharding"}, None),
        ({"entry": "step", "rename_entry": True}, None),
        ({"donate": [0]}, "hlo"),
    ],
)
def test_what_cannot_be_held_is_a_usage_error(options: Any, emit: Any) -> None:
    source = STEP.replace("@main", "@step") if "entry" in options else STEP
    rewritten = hlopass.rewrite(source, **options)
    with pytest.raises(UsageError):
        rewritten.check_faithful(rewritten.data(emit))
