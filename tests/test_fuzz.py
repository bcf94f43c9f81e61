"""Whatever a manifest says, what comes out is a program or diagnostics."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import hlopass
from hlopass import formats
from hlopass.diagnostics import HlopassError

PROGRAM = """
module {
  func.func @main(
      %arg0: tensor<4xf32> loc("state['w']"), %arg1: tensor<4xf32> loc("state['m']"),
      %arg2: tensor<8xbf16> loc("half"), %arg3: !stablehlo.token loc("token"),
      %arg4: tensor<?xf32> loc("ragged"), %arg5: tensor<0xf32> loc("none"),
      %arg6: tensor<4xf32> {jax.global_constant = "c"} loc("c"),
      %arg7: tensor<4xf32> {tf.aliasing_output = 2 : i32} loc("7"),
      %arg8: tensor<2xf32> {jax.buffer_donor = true} loc("*"),
      %arg9: tensor<4xf32> {mhlo.memory_kind = "pinned_host"}
  ) -> (
      tensor<4xf32> {jax.result_info = "state['w']"}, tensor<4xi32> {jax.result_info = "state['m']"},
      tensor<4xf32>, tensor<?xf32>, tensor<0xf32>, !stablehlo.token
  ) {
    %0 = stablehlo.add %arg0, %arg6 : tensor<4xf32>
    %1 = stablehlo.bitcast_convert %arg1 : (tensor<4xf32>) -> tensor<4xi32>
    return %0, %1, %arg7, %arg4, %arg5, %arg3
      : tensor<4xf32>, tensor<4xi32>, tensor<4xf32>, tensor<?xf32>, tensor<0xf32>, !stablehlo.token
  }
}
"""  # noqa: E501

BYTES = PROGRAM.encode()

NAMES = ["state['w']", "state['m']", "half", "token", "ragged", "none", "c", "7", "*"]
ANYTHING = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)
SELECTORS = st.one_of(
    st.integers(-1, 11),
    st.integers(-1, 11).map(str),
    st.sampled_from([*NAMES, "state*", "?", "*['?']", "1:4", ":", "8:", "re:.*", "re:[", ""]),
    st.text(max_size=6),
)
ENTRIES = st.one_of(
    SELECTORS,
    st.fixed_dictionaries(
        {"arg": SELECTORS},
        optional={
            "result": SELECTORS,
            "as": st.sampled_from(["alias", "donor"]),
            "optional": st.booleans(),
        },
    ),
)
NEARLY = st.fixed_dictionaries(
    {},
    optional={
        "version": st.just(1),
        "donate": st.lists(st.one_of(ENTRIES, ENTRIES, ENTRIES, ANYTHING), max_size=4),
        "keep": st.lists(SELECTORS, max_size=2),
        "automatic": st.sampled_from(["off", "frontend", "repair", "names", "dataflow"]),
        "unknown": ANYTHING,
    },
)


def rewritten(manifest: Any) -> hlopass.Rewritten | None:
    """The rewritten program; None where the manifest was refused with diagnostics."""
    try:
        return hlopass.rewrite(BYTES, donate=manifest, label="fuzz.mlir")
    except HlopassError as error:
        refused = error
    assert refused.exit_status == 1
    assert any(found.severity == "error" for found in refused.diagnostics)
    for found in refused.diagnostics:
        assert found.message and "\n" not in found.message, str(found)
        assert not found.message.removesuffix("...").endswith("."), str(found)
        assert found.where is not None, str(found)
    return None


def check(manifest: Any) -> None:
    """What holds for every manifest."""
    found = rewritten(manifest)
    if found is None:
        return
    taken = [each.result.index for each in found.donations if each.result is not None]
    assert len(taken) == len(set(taken))
    for each in found.donations:
        assert each.result is None or each.argument.bytes == each.result.bytes
    data = found.data()
    program = formats.read(data, "out")
    assert program.module.operation.verify()
    assert hlopass.rewrite(data, donate=manifest).data() == data, "not stable"


@given(ANYTHING.filter(lambda data: not isinstance(data, str) and data is not None))
def test_anything(manifest: Any) -> None:
    check(manifest)


@given(NEARLY)
def test_what_is_nearly_a_manifest(manifest: Any) -> None:
    check(manifest)


@given(st.lists(ENTRIES, min_size=1, max_size=4))
def test_lists_of_entries(entries: list[Any]) -> None:
    check(entries)


@pytest.mark.parametrize("suffix", [".json", ".toml", ".yaml"])
@given(data=st.one_of(st.binary(max_size=40), st.text(max_size=40), NEARLY))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_files(tmp_path: Path, suffix: str, data: Any) -> None:
    path = tmp_path / f"m{suffix}"
    if isinstance(data, str):
        data = data.encode("utf-8", "surrogatepass")
    elif not isinstance(data, bytes):
        data = json.dumps(data).encode()
    path.write_bytes(data)
    rewritten(path)
