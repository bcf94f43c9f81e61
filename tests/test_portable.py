"""Portable artifacts and gzip: in and out, versions, what VHLO has no words for, bombs."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from click.testing import CliRunner

import hlopass
from hlopass import formats
from hlopass.cli import cli
from hlopass.diagnostics import Diagnostic, HlopassError, UsageError
from hlopass.emit import Emit, emit_of
from hlopass.fidelity import skeleton
from hlopass.formats import gzipped, portable
from hlopass.jaxlib_compat import vhlo_versions

STEP = """\
func.func public @main(%w: tensor<4xf32>, %g: tensor<4xf32>) -> (tensor<4xf32> {jax.result_info = "new"}) {
  %0 = stablehlo.add %w, %g {vendor.note = "kept"} : tensor<4xf32>
  return %0 : tensor<4xf32>
}
"""  # noqa: E501

SHARDED = """\
sdy.mesh @mesh = <["x"=2]>
func.func public @main(%w: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<4xf32> {
  %0 = stablehlo.add %w, %w : tensor<4xf32>
  return %0 : tensor<4xf32>
}
"""  # noqa: E501


def refused(data: bytes) -> Diagnostic:
    with pytest.raises(HlopassError) as caught:
        formats.read(data, "m")
    return caught.value.diagnostics[0]


@pytest.mark.parametrize("version", ["0.9.0", "1.0.0", "1.10.3"])
def test_an_artifact_stays_one_of_its_version(version: str) -> None:
    data = hlopass.convert(STEP, f"portable={version}")
    assert portable.version_of(data) == version
    rewritten = hlopass.rewrite(data, donate=["w"])
    out = rewritten.data()
    assert portable.version_of(out) == version
    assert "tf.aliasing_output = 0 : i32" in hlopass.rewrite(out).text()
    assert skeleton(out) == skeleton(data) == skeleton(STEP.encode())
    assert hlopass.rewrite(out, donate=["w"]).data() == out


def test_the_newest_version_is_the_default() -> None:
    assert portable.version_of(hlopass.convert(STEP, "portable")) == vhlo_versions()[1]
    assert portable.version_of(hlopass.convert(STEP, "bytecode")) is None


def test_an_unchanged_artifact_is_the_input_itself() -> None:
    data = hlopass.convert(STEP, "portable=1.0.0")
    assert hlopass.rewrite(data).data() == data
    assert hlopass.rewrite(data).data("portable") != data


@pytest.mark.parametrize("version", ["0.8.0", "99.0.0", "1", "x", "1.0.0.0", "1.0.99999"])
def test_versions_that_cannot_be_written(version: str) -> None:
    with pytest.raises(UsageError) as caught:
        hlopass.convert(STEP, f"portable={version}")
    found = caught.value.diagnostics[0]
    assert found.code == "portable-version"
    assert found.help == f"legal: 0.9.0 to {vhlo_versions()[1]}"


def test_shardings_are_kept_and_said() -> None:
    warned: list[Diagnostic] = []
    data = hlopass.convert(SHARDED, "portable", warn=warned.append)
    assert [each.code for each in warned] == ["portable-mixed"]
    assert warned[0].message.endswith("as it is: sdy")
    assert skeleton(data) == skeleton(SHARDED.encode())
    again: list[Diagnostic] = []
    out = hlopass.rewrite(data, donate=["w"]).data(warn=again.append)
    assert not again, "nothing is said of what the input had already"
    assert skeleton(out, sharding=True) == skeleton(data, sharding=True)
    assert "@mesh" in hlopass.convert(out, "text").decode()


def test_other_dialects_are_kept_and_said() -> None:
    warned: list[Diagnostic] = []
    written = 'stablehlo.add %w, %g {vendor.note = "kept"} : tensor<4xf32>'
    source = STEP.replace(written, "chlo.tan %w : tensor<4xf32> -> tensor<4xf32>")
    data = hlopass.convert(source, "portable", warn=warned.append)
    assert warned[0].message.endswith("as it is: chlo")
    assert "chlo.tan" in hlopass.convert(data, "text").decode()


def test_what_an_old_version_has_no_words_for() -> None:
    source = STEP.replace('stablehlo.add %w, %g {vendor.note = "kept"}', "stablehlo.tan %w")
    with pytest.raises(HlopassError) as caught:
        hlopass.convert(source, "portable=1.0.0")
    found = caught.value.diagnostics[0]
    assert found.code == "portable-impossible" and "vhlo.tan" in found.message


def test_an_artifact_newer_than_jaxlib() -> None:
    newest = vhlo_versions()[1]
    data = hlopass.convert(STEP, "portable").replace(newest.encode(), b"9.99.9"[: len(newest)])
    if portable.version_of(data) != newest and (found := _failure(data)) is not None:
        assert found.code == "portable-newer" and newest in found.message


def _failure(data: bytes) -> Diagnostic | None:
    try:
        formats.read(data, "m")
    except HlopassError as error:
        return error.diagnostics[0]
    return None


def test_a_truncated_artifact_is_refused_wherever_it_ends() -> None:
    data = hlopass.convert(STEP, "portable=1.0.0")
    for end in range(4, len(data)):
        assert refused(data[:end]).code in ("module-parse", "format-unknown")


def test_an_artifact_whose_producer_does_not_say_so() -> None:
    data = hlopass.convert(STEP, "portable=1.0.0")
    old = data.replace(b"StableHLO_v1.0.0\0", b"MLIR17.0.0git.xx\0")
    assert portable.version_of(old) is None
    out = hlopass.rewrite(old, donate=["w"]).data()
    assert portable.version_of(out) == vhlo_versions()[1]
    assert skeleton(out) == skeleton(data)


@pytest.mark.parametrize("emit", ["text", "bytecode", "portable=1.0.0"])
def test_gzip_in_gzip_out(emit: str) -> None:
    plain = hlopass.convert(STEP, emit)
    packed = hlopass.convert(STEP, f"{emit}.gz")
    assert gzip.decompress(packed) == plain
    assert packed == hlopass.convert(STEP, f"{emit}.gz") and packed[4:8] == bytes(4)
    out = hlopass.rewrite(packed, donate=["w"]).data()
    assert gzip.decompress(out) == hlopass.rewrite(plain, donate=["w"]).data()
    assert hlopass.rewrite(packed).data() == packed
    assert hlopass.rewrite(packed).data(emit) == plain
    assert hlopass.inspect(packed).arguments == hlopass.inspect(plain).arguments


def test_several_members_are_one_file() -> None:
    cut = len(STEP) // 2
    data = gzip.compress(STEP[:cut].encode()) + gzip.compress(STEP[cut:].encode())
    assert hlopass.convert(data, "text") == hlopass.convert(STEP, "text")


def test_damaged_gzip_is_refused() -> None:
    data = gzip.compress(STEP.encode())
    for end in range(2, len(data)):
        assert refused(data[:end]).code == "gzip-damaged"
    assert refused(data[:-8] + bytes(8)).code == "gzip-damaged"
    assert refused(data + b"more").code == "gzip-damaged"


def test_a_bomb_is_refused_before_it_fills_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gzipped, "MOST_BYTES", 1000)
    found = refused(gzip.compress(bytes(1001)))
    assert found.code == "gzip-limit" and "1,000 bytes" in found.message
    assert refused(gzip.compress(bytes(600)) * 2).code == "gzip-limit"
    assert refused(gzip.compress(b" " * 1000)).code == "module-empty"


def test_what_emit_says() -> None:
    assert emit_of("portable=1.0.0.gz") == Emit("portable", "1.0.0", True)
    assert emit_of("text") == Emit("text")
    for wrong, code in [
        ("tex", "emit-unknown"),
        ("", "emit-unknown"),
        (".gz", "emit-unknown"),
        ("text=1", "emit-version"),
        ("portable=", "emit-version"),
    ]:
        with pytest.raises(UsageError) as caught:
            emit_of(wrong)
        assert caught.value.diagnostics[0].code == code


def test_convert_needs_no_entry() -> None:
    two = STEP.replace("@main", "@one") + STEP.replace("@main", "@two")
    assert b"@two" in hlopass.convert(hlopass.convert(two, "portable"), "text")


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        (["--emit", "portable=1.0.0.gz"], 0, ""),
        ([], 2, "name the format to write"),
        (["--emit", "bytecod"], 2, "did you mean 'bytecode'?"),
        (["--emit", "portable=77.0.0"], 2, "legal: 0.9.0 to"),
    ],
)
def test_the_command(tmp_path: Path, arguments: list[str], status: int, words: str) -> None:
    source, out = tmp_path / "m.mlir", tmp_path / "out"
    source.write_text(STEP)
    done = CliRunner().invoke(cli, ["convert", str(source), "-o", str(out), *arguments])
    assert done.exit_code == status and words in done.stderr
    assert out.exists() == (status == 0)
    if status == 0:
        assert out.read_bytes() == hlopass.convert(source, "portable=1.0.0.gz")
