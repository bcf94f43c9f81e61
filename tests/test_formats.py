"""Formats: text and bytecode in and out, names, locations, and the same bytes every time."""

from __future__ import annotations

import gzip
from pathlib import Path

import jaxlib.mlir.ir as ir
import pytest
from golden import FEATURES, has_feature

import hlopass
from hlopass import formats
from hlopass.diagnostics import Diagnostic, HlopassError
from hlopass.fidelity import skeleton
from hlopass.jaxlib_compat import new_context

NAMED = """\
module @step attributes {vendor.note = "ünïcode"} {
  func.func public @main(%w: tensor<4xf32>, %cache_k: tensor<4xf32>) -> (tensor<4xf32> {jax.result_info = "[0]['ß']"}) {
    %0 = stablehlo.add %w, %cache_k : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
"""  # noqa: E501

LOCATED = """\
#file = loc("model.py":10:4)
func.func @main(%arg0: tensor<4xf32> loc("state['w']"), %arg1: tensor<4xf32> loc("é")) -> tensor<4xf32> {
  %0 = stablehlo.add %arg0, %arg1 : tensor<4xf32> loc("add"(#file))
  return %0 : tensor<4xf32> loc(callsite("return" at #file))
}
"""  # noqa: E501

ssa_names = pytest.mark.skipif(not has_feature("ssa-names"), reason=FEATURES["ssa-names"][1])


def refused(data: bytes | str, label: str = "m.mlir") -> Diagnostic:
    """The first diagnostic for what is no module."""
    with pytest.raises(HlopassError) as caught:
        formats.read(data, label)
    return caught.value.diagnostics[0]


def names(data: bytes | str) -> list[str | None]:
    """The names of a module's arguments."""
    return [argument.name for argument in formats.read(data, "m").arguments]


def test_names_of_arguments_and_results() -> None:
    program = formats.read(NAMED, "m")
    assert [argument.name for argument in program.arguments] == ["w", "cache_k"]
    assert [result.name for result in program.results] == ["[0]['ß']"]
    assert names(LOCATED) == ["state['w']", "é"]


@pytest.mark.parametrize(
    "written", ["%7", "%12", "%arg0", "%arg12"], ids=lambda written: written[1:]
)
def test_numbers_are_no_names(written: str) -> None:
    assert names(NAMED.replace("%w", written))[0] is None


@ssa_names
def test_text_keeps_ssa_names() -> None:
    out = hlopass.rewrite(NAMED, donate=["w"]).text()
    assert "%w: tensor<4xf32> {tf.aliasing_output = 0 : i32}, %cache_k: tensor<4xf32>)" in out
    assert "stablehlo.add %w, %cache_k" in out
    assert "loc(" not in out and out.count("\n") == NAMED.count("\n")


@ssa_names
def test_bytecode_keeps_ssa_names() -> None:
    data = hlopass.rewrite(NAMED, donate=["w"]).bytecode()
    assert names(data) == ["w", "cache_k"]
    assert names(hlopass.rewrite(data).text()) == ["w", "cache_k"]


@pytest.mark.parametrize("source", [NAMED, LOCATED], ids=["named", "located"])
def test_there_and_back(source: str) -> None:
    binary = hlopass.rewrite(source).bytecode()
    assert binary.startswith(b"ML\xefR")
    text = hlopass.rewrite(binary).text()
    again = hlopass.rewrite(text).bytecode()
    if has_feature("ssa-names"):
        assert skeleton(binary) == skeleton(text.encode()) == skeleton(source.encode())
    assert hlopass.rewrite(again).text() == text
    assert again == hlopass.rewrite(again).data() == hlopass.rewrite(again).bytecode()


def test_locations_stay_and_none_are_made_up() -> None:
    out = hlopass.rewrite(LOCATED, donate=[0]).text()
    for kept in ("\"state['w']\"", '"model.py":10:4', "callsite(", '"add"(', 'loc("\\C3\\A9")'):
        assert kept in out
    assert 'loc("-"' not in out
    assert "loc(" not in hlopass.rewrite(NAMED, donate=[0]).text()
    assert out.endswith("\n") and not out.endswith("\n\n")


def test_positions_that_the_source_itself_has_in_a_file_called_dash_stay() -> None:
    source = LOCATED.replace("model.py", "-")
    assert 'loc("-":10:4)' in hlopass.rewrite(source, donate=[0]).text()


def test_bytes_do_not_depend_on_where_the_file_lies_or_how_it_is_laid_out(tmp_path: Path) -> None:
    paths = [tmp_path / "a.mlir", tmp_path / "deep" / "er" / "other name.txt"]
    paths[1].parent.mkdir(parents=True)
    for path, text in zip(
        paths, (NAMED, "\n\n// a comment\n" + NAMED.replace("  ", "\t")), strict=True
    ):
        path.write_text(text)
    here = [hlopass.rewrite(path, donate=["w"]) for path in paths]
    assert here[0].bytecode() == here[1].bytecode()
    assert here[0].text() == here[1].text()
    assert here[0].report.fingerprint == here[1].report.fingerprint
    same = hlopass.rewrite(NAMED, donate=["w"], label="another label")
    assert same.bytecode() == here[0].bytecode()


def test_the_same_bytes_every_time() -> None:
    assert len({hlopass.rewrite(LOCATED, donate=[0]).bytecode() for _ in range(3)}) == 1
    assert len({hlopass.rewrite(LOCATED, donate=[0]).text() for _ in range(3)}) == 1


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(NAMED.encode("utf-8-sig"), id="byte order mark"),
        pytest.param(NAMED.replace("\n", "\r\n").encode(), id="carriage returns"),
        pytest.param(NAMED.rstrip().encode(), id="no last line break"),
        pytest.param(b"\n\n" + NAMED.encode() + b"\n\n", id="blank lines"),
    ],
)
def test_ways_to_write_a_text(data: bytes) -> None:
    plain = hlopass.rewrite(NAMED, donate=["w"])
    assert hlopass.rewrite(data, donate=["w"]).text() == plain.text()
    assert hlopass.rewrite(data).data() == data, "unchanged means byte for byte"


def test_unchanged_bytecode_is_the_input_itself() -> None:
    data = hlopass.rewrite(LOCATED).bytecode() + b""
    unchanged = hlopass.rewrite(data)
    assert not unchanged.changed and unchanged.data() is unchanged.raw == data


@pytest.mark.parametrize(
    ("data", "code", "words"),
    [
        (b"", "module-empty", "the file is empty"),
        (b" \n\t\n", "module-empty", "the file is empty"),
        (b"\xef\xbb\xbf", "module-empty", "the file is empty"),
        (b"// nothing\n", "module-empty", "the module is empty"),
        (b"module {}", "module-empty", "the module is empty"),
        (bytes(range(256)), "format-unknown", "not a module: binary data"),
        (b"\x80\x81\x82", "format-unknown", "not a module: binary data"),
        (b"func\0", "format-unknown", "not a module: binary data"),
        (
            gzip.compress(gzip.compress(b"m", mtime=0), mtime=0),
            "format-unknown",
            "gzip data in gzip data",
        ),
        (gzip.compress(b"", mtime=0), "module-empty", "the file is empty"),
        (b"PK\x03\x04rest", "format-unknown", "not a module: a zip archive"),
        (b"\n HloModule f\n", "module-parse", ""),
        (b' {"donate": [0]}', "format-unknown", "not a module: JSON"),
        (b"[1, 2]", "format-unknown", "not a module: JSON"),
        (b"ML\xefR", "module-parse", ""),
        (b"ML\xefR\x0dgarbage\0", "module-parse", ""),
    ],
)
def test_what_is_no_module(data: bytes, code: str, words: str) -> None:
    found = refused(data)
    assert found.code == code and words in found.message
    assert found.where is not None and found.where.file == "m.mlir"
    if code == "format-unknown":
        assert found.help is not None and found.help.startswith("legal: StableHLO, MHLO or HLO")


def test_resources_at_the_start_of_a_text_are_no_json() -> None:
    assert names("{-# dialect_resources: {} #-}\n" + NAMED) == ["w", "cache_k"]


def test_truncated_bytecode_is_refused_wherever_it_ends() -> None:
    data = hlopass.rewrite(LOCATED).bytecode()
    for end in range(4, len(data)):
        assert refused(data[:end], "cut.mlirbc").where is not None


def test_bytecode_with_bytes_that_are_no_text_is_refused() -> None:
    data = hlopass.rewrite(LOCATED).bytecode()
    found = refused(data.replace(b"func\0", b"f\xafnc\0"))
    assert found.message == "not a module: the bytecode is damaged"


def test_a_result_name_that_is_not_utf8_is_shown_escaped() -> None:
    data = hlopass.rewrite(NAMED.replace("ß", "abc")).bytecode()
    program = formats.read(data.replace(b"['abc']", b"['a\xffc']"), "m")
    assert program.results[0].name == r"[0]['a\xffc']"


def test_truncated_text_says_that_it_ends_there() -> None:
    found = refused(NAMED[: NAMED.index("return")].rstrip() + "\n")
    assert found.where is not None and found.where.line == 3
    assert found.notes == ("the text ends there: it may have been cut short",)


def test_a_syntax_error_has_its_line_and_a_caret() -> None:
    found = refused(NAMED.replace("stablehlo.add", "stablehlo.adds"))
    assert str(found.where) == "m.mlir:3:10"
    assert found.message == "custom op 'stablehlo.adds' is unknown"
    assert str(found).splitlines()[1:3] == [
        "  |     %0 = stablehlo.adds %w, %cache_k : tensor<4xf32>",
        "  |          ^",
    ]


def test_a_long_line_is_cut_around_the_caret() -> None:
    arguments = ", ".join(f"%argument_{i}: tensor<4xf32>" for i in range(500))
    found = refused(f"func.func @main({arguments}, oops) {{ return }}")
    lines = str(found).splitlines()
    assert found.where is not None and len(lines[1]) <= 124
    caret = lines[2].index("^")
    assert lines[1][caret:].startswith("oops")


@pytest.mark.parametrize("kind", ["text", "bytes", "path", "file name", "module"])
def test_sources_from_python(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "m.mlir"
    path.write_text(NAMED)
    with new_context():
        module = ir.Module.parse(NAMED)
    sources = {
        "text": NAMED,
        "bytes": NAMED.encode(),
        "path": path,
        "file name": str(path),
        "module": module,
    }
    rewritten = hlopass.rewrite(sources[kind], donate=[0])
    assert [each.argument.index for each in rewritten.donations] == [0]
    assert "tf.aliasing_output = 0 : i32" in rewritten.text()
    assert path.read_text() == NAMED
    assert "tf.aliasing_output" not in str(module), "the source is not changed"


def test_a_source_of_another_kind_is_refused() -> None:
    with pytest.raises(HlopassError) as caught:
        hlopass.rewrite(12)
    assert caught.value.diagnostics[0].code == "source-type"
    assert "int" in str(caught.value) and "legal: a path" in str(caught.value)
