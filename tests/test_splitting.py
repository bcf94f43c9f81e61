"""Several modules in one text: each by itself, true lines, and one bad one loses no other."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import hlopass
from hlopass import parts
from hlopass.cli import cli
from hlopass.diagnostics import HlopassError

GOOD = """\
func.func @main(%w: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.add %w, %w : tensor<4xf32>
  return %0 : tensor<4xf32>
}
"""
BAD = GOOD.replace("add", "adds")
HLO = """\
HloModule one

ENTRY main {
  x = f32[4] parameter(0)
  ROOT y = f32[4] add(x, x)
}
"""
THREE = (
    f"// RUN: nothing\n\n{GOOD}\n// -----\n\n{BAD}\n// -----\n// only a comment\n// -----\n{GOOD}"
)


def run(command: str, path: Path, *more: str) -> Result:
    out = path.with_name("out")
    return CliRunner().invoke(cli, [command, str(path), "-o", str(out), *more])


@pytest.mark.parametrize(
    "text", [THREE, GOOD, HLO * 3, f"// note\n{HLO}// -----\n{HLO}{HLO}", "", "\n"]
)
def test_the_pieces_are_the_text(text: str) -> None:
    pieces = parts.split(text)
    assert "".join(piece.text for piece in pieces) == text
    for piece in pieces:
        assert (
            text.split("\n")[piece.line :][: piece.text.count("\n")]
            == (piece.text.split("\n")[: piece.text.count("\n")])
        )


def test_modules_are_counted() -> None:
    assert [parts.count(text) for text in (THREE, GOOD, HLO * 3, "", "// x")] == [3, 1, 3, 0, 0]
    assert parts.count('HloModule a, b="\\nHloModule c"') == 1


def test_one_bad_module_loses_no_other(tmp_path: Path) -> None:
    path = tmp_path / "m.mlir"
    path.write_text(THREE)
    done = run("rewrite", path, "--split-input-file", "--automatic", "dataflow")
    assert done.exit_code == 1
    line = THREE[: THREE.index("adds")].count("\n") + 1
    assert f"m.mlir:{line}:8: error:" in done.stderr
    assert "note: in module 2 of 3" in done.stderr and "1 of 3 modules failed" in done.stderr
    out = (tmp_path / "out").read_text()
    assert out.count("tf.aliasing_output = 0 : i32") == 2 and BAD in out
    assert out.count("// -----\n") == 3 and parts.count(out) == 3
    assert "// only a comment" in out


def test_all_modules_unchanged_is_the_input(tmp_path: Path) -> None:
    path = tmp_path / "m.mlir"
    path.write_text(THREE.replace("adds", "add"))
    assert run("rewrite", path, "--split-input-file").exit_code == 0
    assert (tmp_path / "out").read_text() == path.read_text()
    assert run("rewrite", path, "--split-input-file", "--check").exit_code == 0
    asked = ("--automatic", "dataflow")
    assert run("rewrite", path, "--split-input-file", "--check", *asked).exit_code == 1


def test_several_hlo_modules_need_no_marker(tmp_path: Path) -> None:
    path = tmp_path / "m.hlo.gz"
    path.write_bytes(gzip.compress((HLO * 3).encode()))
    done = run("rewrite", path, "--split-input-file", "--automatic", "dataflow")
    assert done.exit_code == 0, done.stderr
    ties = "HloModule one, input_output_alias={ {}: (0, {}, may-alias) }"
    out = gzip.decompress((tmp_path / "out").read_bytes()).decode()
    assert out == (HLO * 3).replace("HloModule one", ties)
    done = run("convert", path, "--split-input-file", "--emit", "text")
    assert done.exit_code == 0 and (tmp_path / "out").read_text().count("stablehlo.add") == 3


def test_several_modules_unasked_are_a_diagnostic() -> None:
    for text in (HLO * 3, THREE):
        with pytest.raises(HlopassError) as caught:
            hlopass.rewrite(text)
        found = caught.value.diagnostics[0]
        assert (found.code, found.message) == ("module-several", "the text holds 3 modules")


def test_modules_from_python() -> None:
    modules = hlopass.split(THREE)
    assert len(modules) == 3
    assert hlopass.rewrite(modules[2], donate=["w"]).changed
    with pytest.raises(HlopassError) as caught:
        hlopass.split(b"\xff\0")
    assert caught.value.diagnostics[0].code == "split-binary"


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--verify"], "cannot be given beside --verify"),
        (["--report", "r.json"], "cannot be given beside --verify or --report"),
        (["--emit", "bytecode"], "several modules in one file are text"),
        (["--emit", "text.gz"], "several modules in one file are text"),
        (["--mesh", "x=2"], "no spec to bind"),
    ],
)
def test_options_that_do_not_fit(tmp_path: Path, more: list[str], words: str) -> None:
    path = tmp_path / "m.mlir"
    path.write_text(THREE)
    done = run("rewrite", path, "--split-input-file", *more)
    assert done.exit_code == 2 and words in done.stderr
    assert not (tmp_path / "out").exists()
