"""The command line as a process: exit statuses, streams, and what is written."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from hlopass import fingerprint, formats, manifest
from hlopass.cli import cli

STEP = """\
func.func @main(%w: tensor<4xf32>, %g: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.subtract %w, %g : tensor<4xf32>
  return %0 : tensor<4xf32>
}
"""
CRASHING = """\
func.func @main(%x: tensor<8x2xf32>) -> tensor<2x8xf32> {
  %0 = "stablehlo.all_to_all"(%x) {concat_dimension = 1 : i64, split_dimension = 0 : i64,
    split_count = 4 : i64, replica_groups = dense<> : tensor<0x4xi64>}
    : (tensor<8x2xf32>) -> tensor<2x8xf32>
  return %0 : tensor<2x8xf32>
}
"""
WARNING = STEP.replace("@main", "@step")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a program and manifests, in which commands run."""
    (tmp_path / "step.mlir").write_text(STEP)
    (tmp_path / "w.json").write_text('{"donate": ["w"]}')
    (tmp_path / "wrong.json").write_text('{"donate": ["x", {"arg": "w", "result": 7}]}')
    (tmp_path / "crashing.mlir").write_text(CRASHING)
    return tmp_path


def hlopass(
    folder: Path, *arguments: str, input: bytes = b"", python: tuple[str, ...] = ()
) -> tuple[int, bytes, str]:
    """Exit status, standard output and standard error of a run."""
    command = [sys.executable, *python, "-m", "hlopass", *arguments]
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent), "COLUMNS": "100"}
    done = subprocess.run(
        command, cwd=folder, env=env, input=input, capture_output=True, check=False, timeout=60
    )
    return done.returncode, done.stdout, done.stderr.decode()


def listing(folder: Path) -> list[str]:
    """The names of the files in a folder."""
    return sorted(path.name for path in folder.iterdir())


def test_ir_alone_goes_to_standard_output(folder: Path) -> None:
    status, out, err = hlopass(folder, "rewrite", "-", "--donate", "w.json", input=WARNING.encode())
    assert status == 0
    found = formats.read(out, "out")
    assert found.argument_attributes()[0].keys() == {"tf.aliasing_output"}
    assert out.endswith(b"}\n") and b"warning" not in out
    assert err.count("entry-not-main") == 1 and err.startswith("<stdin>: warning: ")


def test_a_file_in_and_a_file_out(folder: Path) -> None:
    run = ("rewrite", "step.mlir", "--donate", "w.json", "-o", "out.mlir", "--report", "r.json")
    assert hlopass(folder, *run) == (0, b"", "")
    assert b"tf.aliasing_output = 0 : i32" in (folder / "out.mlir").read_bytes()
    report = json.loads((folder / "r.json").read_text())
    assert report["ok"] is True and report["version"] == 1
    assert report["donations"][0]["argument"]["type"] == "tensor<4xf32>"
    assert report["donated_bytes"] == 16
    assert hlopass(folder, *run)[0] == 0, "again, over what is there"
    assert (folder / "step.mlir").read_text() == STEP


def test_no_report_is_made_unless_asked_for(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def printed_again(_: object) -> str:
        pytest.fail("the fingerprint prints the whole module")

    monkeypatch.chdir(folder)
    monkeypatch.setattr(fingerprint, "of", printed_again)
    cli.main(["rewrite", "step.mlir", "--donate", "w.json", "-o", "o.mlir"], standalone_mode=False)
    assert b"tf.aliasing_output" in (folder / "o.mlir").read_bytes()


def test_bytecode_through_pipes(folder: Path) -> None:
    status, binary, err = hlopass(folder, "rewrite", "step.mlir", "--emit", "bytecode")
    assert (status, err) == (0, "") and binary.startswith(b"ML\xefR")
    status, out, err = hlopass(folder, "rewrite", "-", "--automatic", "off", input=binary)
    assert (status, out, err) == (0, binary, "")


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        (["rewrite", "none.mlir"], 1, "none.mlir: error: cannot read the file"),
        (["rewrite", "w.json"], 1, "w.json: error: not a module: JSON"),
        (["rewrite", "step.mlir", "--donate", "none.json"], 1, "none.json: error: cannot read"),
        (["rewrite", "step.mlir", "--donate", "wrong.json"], 1, "wrong.json#/donate/1: error: "),
        (["rewrite", "step.mlir", "-o", "no/out.mlir"], 1, "no/out.mlir: error: cannot write"),
        (["rewrite", "step.mlir", "--entry", "mian"], 1, "did you mean 'main'?"),
        (["rewrite", "step.mlir", "--donate", "w.json", "--check"], 1, "step.mlir: would change"),
        (["rewrite", "step.mlir", "--check"], 0, ""),
        (["rewrite"], 2, "Missing argument 'IN'"),
        (["rewrite", "step.mlir", "--nothing"], 2, "--nothing"),
        (["rewrite", "-", "--donate", "-"], 2, "can be standard input"),
        (["rewrite", "step.mlir", "--pipeline", "func.func(sdy-x)"], 2, "--pipeline:1:1: error: "),
        (["nothing"], 2, "nothing"),
        ([], 2, "Usage: hlopass"),
    ],
)
def test_exit_statuses(folder: Path, arguments: list[str], status: int, words: str) -> None:
    before = listing(folder)
    found, out, err = hlopass(folder, *arguments)
    assert found == status, err
    assert (out == b"") or status == 0
    assert words in err and "Traceback" not in err
    lines = [line for line in err.splitlines() if ": error: " in line]
    assert len(lines) == len(set(lines)), "something is printed twice"
    assert listing(folder) == before


def test_out_is_untouched_where_something_is_wrong(folder: Path) -> None:
    (folder / "out.mlir").write_text("what was there")
    for wrong in (["--donate", "wrong.json"], ["--entry", "none"], ["--emit", "none"]):
        status, out, _ = hlopass(folder, "rewrite", "step.mlir", *wrong, "-o", "out.mlir")
        assert status in (1, 2) and out == b""
    assert (folder / "out.mlir").read_text() == "what was there"
    assert listing(folder) == [
        "crashing.mlir",
        "out.mlir",
        "step.mlir",
        "w.json",
        "wrong.json",
    ]


def test_a_crash_of_the_parser_is_one_sentence(folder: Path) -> None:
    (folder / "out.mlir").write_text("what was there")
    status, out, err = hlopass(folder, "rewrite", "crashing.mlir", "-o", "out.mlir")
    assert (status, out) == (4, b"")
    (line,) = err.splitlines()
    assert "error: the compiler crashed with SIG" in line
    assert line.endswith("while reading the module [compiler-crashed]")
    assert (folder / "out.mlir").read_text() == "what was there"


def test_a_reader_that_goes_away_is_no_error(folder: Path) -> None:
    functions = "".join(f"func.func private @f{i}() {{ return }}\n" for i in range(20_000))
    (folder / "large.mlir").write_text(functions + STEP)
    command = f"{sys.executable} -m hlopass rewrite large.mlir --donate w.json | head -c 10"
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent)}
    done = subprocess.run(
        command, shell=True, cwd=folder, env=env, capture_output=True, check=False, timeout=60
    )
    assert done.stdout == b"module {\n " and done.stderr == b""


def test_a_signal_ends_both_processes(folder: Path) -> None:
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent)}
    command = [sys.executable, "-m", "hlopass", "rewrite", "-"]
    with subprocess.Popen(
        command, cwd=folder, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdin is not None and process.stdout is not None
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
        while not (listed := children.read_text().split()) and process.poll() is None:
            pass
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=20) == 128 + signal.SIGTERM
        assert process.stdout.read() == b""
    assert not Path(f"/proc/{listed[0]}").exists()


def test_rewriting_never_loads_jax(folder: Path) -> None:
    status, _, err = hlopass(
        folder,
        *("rewrite", "step.mlir", "--donate", "w.json", "-o", "out.mlir"),
        python=("-X", "importtime"),
    )
    assert status == 0
    loaded = {line.rpartition("|")[2].strip() for line in err.splitlines()}
    assert "jaxlib.mlir.ir" in loaded and "hlopass.api" in loaded
    heavy = ("jax", "jaxlib.xla_client", "jaxlib._jax", "scipy", "rich", "hlopass.proof")
    assert not [name for name in loaded if any(f"{name}.".startswith(f"{h}.") for h in heavy)]


def test_help_and_version_load_nothing_heavy(folder: Path) -> None:
    status, out, err = hlopass(folder, "--help", python=("-X", "importtime"))
    assert status == 0 and b"rewrite" in out and b"Exit status" in out
    loaded = {line.rpartition("|")[2].strip() for line in err.splitlines()}
    assert "click" in loaded and not loaded & {"jax", "jaxlib", "numpy", "rich", "msgspec", "yaml"}
    status, out, _ = hlopass(folder, "--version")
    assert status == 0 and out.startswith(b"hlopass, version ")


def test_the_schema_is_printed(folder: Path) -> None:
    status, out, err = hlopass(folder, "schema", "manifest")
    assert (status, err) == (0, "")
    assert json.loads(out) == json.loads(json.dumps(manifest.schema()))


def test_passes_are_listed_and_documented(folder: Path) -> None:
    status, out, _ = hlopass(folder, "passes")
    assert status == 0
    names = [line.split()[0] for line in out.decode().splitlines()]
    assert "donate-args" in names and names == sorted(names)
    status, out, _ = hlopass(folder, "passes", "donate-args")
    assert status == 0 and b"tf.aliasing_output" in out


def test_names_that_the_terminal_cannot_show_are_escaped(folder: Path) -> None:
    (folder / "odd.mlir").write_text(STEP.replace("%w: tensor<4xf32>", "%arg0: tensor<4xf32>"))
    (folder / "odd.json").write_text('{"donate": ["\\ud800", "\\u001b[31m", "a\\nb", "ünï"]}')
    status, _, err = hlopass(folder, "rewrite", "step.mlir", "--donate", "odd.json")
    assert status == 1 and err.count("argument-unknown") == 4
    assert "\x1b" not in err and "Traceback" not in err


def test_a_time_limit_ends_what_python_cannot_interrupt(folder: Path) -> None:
    (folder / "slow.mlir").write_text(STEP.replace("%w", "%" + "a" * 40 + "b"))
    (folder / "slow.json").write_text('["re:(a+)+$"]')
    options = ["--donate", "slow.json", "-o", "out.mlir", "--timeout", "0.1"]
    before = listing(folder)
    status, _, err = hlopass(folder, "rewrite", "slow.mlir", *options)
    assert status == 4 and "[time-limit]" in err and listing(folder) == before


def test_a_memory_limit_is_a_sentence(folder: Path) -> None:
    number = 2_000_000
    constant = f'"0x{"3F" * 4 * number}"'
    text = STEP.replace(
        "%0 = ", f"%c = stablehlo.constant dense<{constant}> : tensor<{number}xf32>\n%0 = "
    )
    (folder / "large.mlir").write_text(text)
    status, _, err = hlopass(folder, "inspect", "large.mlir", "--max-memory", "40M")
    assert status == 4 and "[memory-limit]" in err and "Traceback" not in err
    assert hlopass(folder, "inspect", "large.mlir", "--max-memory", "4G")[0] == 0


@pytest.mark.parametrize("size", ["0", "-1G", "8X", "", "1.5G"])
def test_what_is_no_size(folder: Path, size: str) -> None:
    status, _, err = hlopass(folder, "inspect", "step.mlir", "--max-memory", size)
    assert status == 2 and "legal: 800M, 8G" in err
