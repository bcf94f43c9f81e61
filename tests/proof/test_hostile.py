"""Programs and surroundings that kill, hang or starve the child: each ends in a sentence."""

from __future__ import annotations

import _thread
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from proof_programs import STEP, processes_about

from hlopass import api
from hlopass.cli import cli
from hlopass.diagnostics import CompilerDied, HlopassError
from hlopass.proof import run
from hlopass.proof.observation import Job

PARSER_DIVIDES_BY_ZERO = """
func.func @main(%a: tensor<4x16xf32>) -> tensor<16x4xf32> {
  %0 = "stablehlo.all_to_all"(%a) {
    split_dimension = 1 : i64, concat_dimension = 0 : i64, split_count = 4 : i64,
    replica_groups = dense<0> : tensor<0x2xi64>
  } : (tensor<4x16xf32>) -> tensor<16x4xf32>
  func.return %0 : tensor<16x4xf32>
}
"""
COMPILER_SEGFAULTS = """
func.func private @mesh()
func.func @main(%a: tensor<f32>) -> tensor<f32> {
  %0 = "stablehlo.custom_call"(%a) {
    call_target_name = "nop", has_side_effect = false,
    replica_groups = #stablehlo.replica_group_mesh_axes<
      mesh = @mesh, axes = [#stablehlo.axis_ref<name = "x">]>
  } : (tensor<f32>) -> tensor<f32>
  func.return %0 : tensor<f32>
}
"""
COMPILER_ABORTS = """
func.func @main(%a: tensor<4xf32> {
    mhlo.frontend_attributes = {xla.sdy.sharding = "#sdy.sharding<@mesh, [{\\22x\\22}]>"}
  }) -> tensor<4xf32> {
  func.return %a : tensor<4xf32>
}
"""
ENDLESS = """
func.func @main(%x: tensor<4xf32> {tf.aliasing_output = 0 : i32}) -> tensor<4xf32> {
  %limit = stablehlo.constant dense<2.0> : tensor<4xf32>
  %true = stablehlo.constant dense<true> : tensor<i1>
  %0:2 = stablehlo.while(%value = %x, %going = %true) : tensor<4xf32>, tensor<i1>
    cond {
      stablehlo.return %going : tensor<i1>
    } do {
      %next = stablehlo.sine %value : tensor<4xf32>
      %less = stablehlo.compare LT, %next, %limit
        : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
      %first = stablehlo.slice %less [0:1] : (tensor<4xi1>) -> tensor<1xi1>
      %go = stablehlo.reshape %first : (tensor<1xi1>) -> tensor<i1>
      stablehlo.return %next, %go : tensor<4xf32>, tensor<i1>
    }
  func.return %0#0 : tensor<4xf32>
}
"""
NO_SUCH_CALLS = """
func.func @main(%x: tensor<4xf32> {tf.aliasing_output = 0 : i32}) -> tensor<4xf32> {
  %0 = stablehlo.custom_call @tpu_custom_call(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = stablehlo.custom_call @cuda_thing(%0) {api_version = 4 : i32}
    : (tensor<4xf32>) -> tensor<4xf32>
  %2 = stablehlo.custom_call @lapack_sgetrf_ffi(%1) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %2 : tensor<4xf32>
}
"""
CALLBACK = """
func.func @main(%x: tensor<4xf32> {tf.aliasing_output = 0 : i32}) -> tensor<4xf32> {
  %0 = stablehlo.custom_call @xla_ffi_python_cpu_callback(%x) {
    api_version = 4 : i32, backend_config = {index = 0 : ui64}
  } : (tensor<4xf32>) -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}
"""
UNKNOWN_DIALECT = """
func.func @main(%x: tensor<4xf32> {tf.aliasing_output = 0 : i32}) -> tensor<4xf32> {
  %0 = "foreign.op"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}
"""
LARGE_ARGUMENT = STEP.replace("4x", "1000x1000000x1000x")
LARGE_RESULT = """
func.func @main(%x: tensor<f32>) -> tensor<1000x1000000x1000xf32> {
  %0 = stablehlo.broadcast_in_dim %x, dims = []
    : (tensor<f32>) -> tensor<1000x1000000x1000xf32>
  func.return %0 : tensor<1000x1000000x1000xf32>
}
"""
LARGE_TEMPORARY = """
func.func @main(%x: tensor<1000000xf32> {tf.aliasing_output = 0 : i32})
    -> tensor<1000000xf32> {
  %column = stablehlo.reshape %x : (tensor<1000000xf32>) -> tensor<1000000x1xf32>
  %row = stablehlo.reshape %x : (tensor<1000000xf32>) -> tensor<1x1000000xf32>
  %square = stablehlo.dot_general %column, %row, contracting_dims = [1] x [0]
    : (tensor<1000000x1xf32>, tensor<1x1000000xf32>) -> tensor<1000000x1000000xf32>
  %0 = stablehlo.dot_general %square, %x, contracting_dims = [1] x [0]
    : (tensor<1000000x1000000xf32>, tensor<1000000xf32>) -> tensor<1000000xf32>
  func.return %0 : tensor<1000000xf32>
}
"""
DYNAMIC = """
func.func @main(%x: tensor<?xf32>, %w: tensor<4xf32> {tf.aliasing_output = 1 : i32})
    -> (tensor<?xf32>, tensor<4xf32>) {
  func.return %x, %w : tensor<?xf32>, tensor<4xf32>
}
"""
TUPLE_ARGUMENT = """
func.func @main(%pair: tuple<tensor<4xf32>, tensor<4xf32>>) -> tensor<4xf32> {
  %0 = stablehlo.get_tuple_element %pair[0]
    : (tuple<tensor<4xf32>, tensor<4xf32>>) -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}
"""
TUPLE_RESULT = """
func.func @main(%x: tensor<4xf32> {jax.buffer_donor = true})
    -> tuple<tensor<4xf32>, tensor<4xf32>> {
  %0 = stablehlo.tuple %x, %x : tuple<tensor<4xf32>, tensor<4xf32>>
  func.return %0 : tuple<tensor<4xf32>, tensor<4xf32>>
}
"""
QUANTIZED = """
func.func @main(%x: tensor<4x!quant.uniform<i8:f32, 5.0>>)
    -> tensor<4x!quant.uniform<i8:f32, 5.0>> {
  func.return %x : tensor<4x!quant.uniform<i8:f32, 5.0>>
}
"""

UGLY = re.compile(r"Traceback|stack trace|\*\*\*|0x[0-9a-f]{8}|external/|\.cc:\d|Python Code")


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A temporary folder of this test's own; afterwards it is empty, and no child is left."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield folder
    wait_for(lambda: not processes_about(str(folder)))
    assert list(folder.iterdir()) == []


def wait_for(condition: Callable[[], object], seconds: float = 10) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not come about"
        time.sleep(0.02)


def verify(text: str, *options: str) -> Result:
    """`hlopass verify` of a text, with what it prints held to what every diagnostic is."""
    found = CliRunner().invoke(
        cli, ["verify", "-", *options], input=text, catch_exceptions=False, prog_name="hlopass"
    )
    assert not UGLY.search(found.output), found.output
    lines = found.stderr.splitlines()
    assert len(lines) == len(set(lines)), "something is printed twice"
    return found


CASES = {
    "parser-divides-by-zero": (
        PARSER_DIVIDES_BY_ZERO,
        4,
        "error: the compiler crashed with SIGFPE while reading the module [compiler-crashed]",
    ),
    "compiler-aborts": (
        COMPILER_ABORTS,
        4,
        "error: the compiler crashed with SIGABRT while compiling without donation "
        "[compiler-crashed]\n  note: Check failed: false Mesh not found with name: @mesh",
    ),
    "no-such-calls": (
        NO_SUCH_CALLS,
        1,
        "error: the CPU has no custom call target 'tpu_custom_call' [custom-call-missing]\n"
        "  note: the program also calls 'cuda_thing', which jaxlib does not register\n"
        "  help: it belongs to another platform, or to the library that made the program",
    ),
    "callback": (
        CALLBACK,
        1,
        "error: the program calls back into the Python process that made it [host-callback]\n"
        "  help: verify it without running it: --compile-only",
    ),
    "unknown-dialect": (
        UNKNOWN_DIALECT,
        1,
        "error: XLA cannot compile the program: dialect 'foreign' is unknown [compile-failed]",
    ),
    "large-argument": (
        LARGE_ARGUMENT,
        1,
        r"error: the arguments take 4000000000000 bytes, and this machine has \d+ bytes of "
        "memory [out-of-memory]\n  help: verify it without running it: --compile-only",
    ),
    "large-result": (
        LARGE_RESULT,
        1,
        "error: XLA cannot run the program: out of memory allocating 4000000000000 bytes "
        "[out-of-memory]",
    ),
    "large-temporary": (
        LARGE_TEMPORARY,
        1,
        r"error: XLA cannot run the program: out of memory allocating 40\d+ bytes "
        "[out-of-memory]",
    ),
    "dynamic": (
        DYNAMIC,
        1,
        "2:17: error: cannot make up argument 0 'x' of type tensor<?xf32>: its shape is dynamic "
        "[input-type]\n  help: give it a static shape: XLA compiles no other for the CPU",
    ),
    "tuple-argument": (
        TUPLE_ARGUMENT,
        1,
        "2:17: error: argument 0 'pair' is a tuple: only tensors go in and out of a program "
        "[tuple-type]\n  help: pass its tensors one by one",
    ),
    "tuple-result": (
        TUPLE_RESULT,
        1,
        "2:1: error: result 0 is a tuple: only tensors go in and out of a program [tuple-type]\n"
        "  help: pass its tensors one by one",
    ),
    "quantized": (
        QUANTIZED,
        1,
        "2:17: error: cannot make up argument 0 'x' of type tensor<4x!quant.uniform<i8:f32, 5.0>>: "
        "the size of an element of type !quant.uniform<i8:f32, 5.0> is not known "
        "[input-type]\n  help: verify it without running it: --compile-only",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_hostile_programs_end_in_a_sentence(case: str) -> None:
    text, status, said = CASES[case]
    found = verify(text)
    assert found.exit_code == status, found.output
    assert found.stdout == ""
    expected = re.escape(f"<stdin>:{' ' if said.startswith('error') else ''}{said}\n")
    expected = expected.replace(re.escape(r"\d+"), r"\d+")
    assert re.fullmatch(expected, found.stderr), found.stderr


def test_a_segmentation_fault_while_compiling_is_a_sentence() -> None:
    found = verify(COMPILER_SEGFAULTS)
    if found.exit_code == 1:
        assert "unknown StableHLO attribute [module-parse]" in found.stderr
        pytest.skip("this jaxlib does not know the attribute that brings it about")
    assert found.exit_code == 4
    assert found.stderr == (
        "<stdin>: error: the compiler crashed with SIGSEGV while compiling without donation "
        "[compiler-crashed]\n"
    )


def test_what_cannot_run_still_compiles() -> None:
    for text in (CALLBACK, LARGE_ARGUMENT, LARGE_RESULT):
        found = verify(text, "--compile-only")
        assert found.exit_code == 0, found.output


def test_a_program_without_end_runs_out_of_time(temporary: Path) -> None:
    start = time.monotonic()
    found = verify(ENDLESS, "--timeout", "4")
    assert found.exit_code == 4
    assert re.fullmatch(
        r"<stdin>: error: the time limit of 4 seconds ran out while [a-z ]+ \[time-limit\]\n"
        r"  help: give it more with --timeout\n",
        found.stderr,
    )
    assert time.monotonic() - start < 10
    assert processes_about(str(temporary)) == []


def running(temporary: Path) -> int | None:
    """The child of this test, once it runs the program."""
    stages = [folder / "stage" for folder in temporary.iterdir()]
    if not any(stage.exists() and "running" in stage.read_text() for stage in stages):
        return None
    children = processes_about(f"hlopass.proof.child\0{temporary}")
    return children[0] if children else None


def when_running(temporary: Path, then: Callable[[int], object]) -> threading.Thread:
    """Does something to the child as soon as it runs the program."""

    def watch() -> None:
        end = time.monotonic() + 30
        while time.monotonic() < end:
            child = running(temporary)
            if child is not None:
                then(child)
                return
            time.sleep(0.02)

    thread = threading.Thread(target=watch)
    thread.start()
    return thread


def test_a_child_that_the_kernel_kills_is_a_sentence(temporary: Path) -> None:
    killer = when_running(temporary, lambda child: os.kill(child, signal.SIGKILL))
    found = verify(ENDLESS, "--timeout", "60")
    killer.join()
    assert found.exit_code == 4
    assert found.stderr == (
        "<stdin>: error: the process that ran the compiler was killed while running without "
        "donation [compiler-killed]\n  help: the kernel does that where memory runs out\n"
    )


def test_the_kernel_takes_the_child_before_its_parent(temporary: Path) -> None:
    scores: list[str] = []

    def look_and_end(child: int) -> None:
        scores.append(Path(f"/proc/{child}/oom_score_adj").read_text().strip())
        os.kill(child, signal.SIGKILL)

    watcher = when_running(temporary, look_and_end)
    with pytest.raises(CompilerDied):
        api.verify(ENDLESS, timeout=60)
    watcher.join()
    assert scores == ["1000"]


def test_an_interrupt_ends_the_child(temporary: Path) -> None:
    watcher = when_running(temporary, lambda _: _thread.interrupt_main())
    with pytest.raises(KeyboardInterrupt):
        api.verify(ENDLESS, timeout=60)
    watcher.join()
    assert processes_about(str(temporary)) == []


def test_an_error_while_showing_progress_ends_the_child(temporary: Path) -> None:
    def progress(stage: str) -> None:
        if stage.startswith("running"):
            raise RuntimeError(stage)

    with pytest.raises(RuntimeError, match="running without donation"):
        api.verify(ENDLESS, timeout=60, progress=progress)
    assert processes_about(str(temporary)) == []


PARENT = "import sys; from hlopass import api; api.verify(sys.stdin.read())"


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_child_goes_with_its_parent(temporary: Path, number: int) -> None:
    environment = os.environ | {
        "TMPDIR": str(temporary),
        "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
    }
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT], stdin=subprocess.PIPE, env=environment
    )
    assert parent.stdin is not None
    parent.stdin.write(ENDLESS.encode())
    parent.stdin.close()
    wait_for(lambda: running(temporary), 30)
    parent.send_signal(number)
    assert parent.wait(10) == -number
    wait_for(lambda: not processes_about(str(temporary)) and not list(temporary.iterdir()))


def test_no_core_file_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import resource

    limits = resource.getrlimit(resource.RLIMIT_CORE)
    monkeypatch.chdir(tmp_path)
    resource.setrlimit(resource.RLIMIT_CORE, (limits[1], limits[1]))
    try:
        with pytest.raises(CompilerDied):
            api.verify(COMPILER_ABORTS)
    finally:
        resource.setrlimit(resource.RLIMIT_CORE, limits)
    assert [each.name for each in tmp_path.iterdir()] == ["temporary"]


def test_modules_beside_the_user_do_not_shadow_pythons(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("json.py", "numpy.py", "jax.py"):
        (tmp_path / name).write_text("raise SystemExit('shadowed')\n")
    monkeypatch.chdir(tmp_path)
    assert api.verify(STEP).ok


def test_the_child_finds_hlopass_where_this_process_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", "")
    assert api.verify(STEP).ok


def test_settings_of_jax_in_the_environment_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAX_PLATFORMS", "tpu")
    monkeypatch.setenv("JAX_NUM_CPU_DEVICES", "3")
    monkeypatch.setenv("XLA_FLAGS", "--xla_force_host_platform_device_count=2")
    assert api.verify(STEP).ok


def test_a_flag_that_xla_does_not_know_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XLA_FLAGS", "--xla_no_such_flag=1")
    found = verify(STEP)
    assert found.exit_code == 4
    assert found.stderr == (
        "<stdin>: error: the compiler ended with status 1 while starting the runtime "
        "[compiler-crashed]\n  note: Unknown flag in XLA_FLAGS: --xla_no_such_flag=1\n"
    )


@pytest.mark.parametrize(
    ("chatter", "notes"),
    [
        (
            b"I1201 02:41:48.1  25 a.cc:5] hello\nF1201 02:41:48.1  25 a.cc:5] no good\n",
            ("no good",),
        ),
        (b"[external/absl/statusor.cc : 89] RAW: no value\n  @ 0x7f43 f()\n", ("no value",)),
        (b"F1201 02:41:48.1  25 a.cc:5] " + b"x" * 1000, ("x" * 300,)),
        (b"W1201 02:41:48.1  25 a.cc:5] a warning\n\xff\n", ()),
        (b"", ()),
    ],
)
def test_the_last_words_of_xla_are_found(chatter: bytes, notes: tuple[str, ...]) -> None:
    assert run._fatal(chatter) == notes


def test_an_exception_in_the_child_is_an_internal_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAX_ENABLE_X64", "perhaps")
    with pytest.raises(HlopassError) as error:
        api.verify(STEP, label="step.mlir")
    assert str(error.value) == (
        "step.mlir: error: internal error while starting the runtime: ValueError: invalid truth "
        "value 'perhaps' for environment 'JAX_ENABLE_X64' [internal]"
    )


def test_a_temporary_folder_that_is_not_there_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "missing"))
    found = verify(STEP)
    assert found.exit_code == 1
    assert found.stderr == (
        "hlopass: error: cannot write to the temporary folder: No such file or directory "
        "[temporary-folder]\n"
    )


def test_measuring_dies_as_politely_as_verifying() -> None:
    job = Job("step.mlir", candidates=({}, {0: 0}))
    with pytest.raises(CompilerDied, match="SIGABRT while compiling candidate 1 of 2"):
        run.measure(COMPILER_ABORTS.encode(), job)
    with pytest.raises(HlopassError, match="the CPU has no custom call target 'tpu_custom_call'"):
        run.measure(NO_SUCH_CALLS.encode(), job)


@pytest.mark.parametrize("command", [["verify"], ["rewrite", "-o"]])
def test_the_command_line_survives_a_crash_in_its_parser(
    tmp_path: Path, temporary: Path, command: list[str]
) -> None:
    module, output = tmp_path / "step.mlir", tmp_path / "out.mlir"
    module.write_text(PARSER_DIVIDES_BY_ZERO)
    arguments = [*command, str(output), str(module)] if "-o" in command else [*command, str(module)]
    environment = os.environ | {
        "TMPDIR": str(temporary),
        "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
    }
    found = subprocess.run(
        [sys.executable, "-m", "hlopass", *arguments],
        capture_output=True,
        text=True,
        env=environment,
        timeout=60,
    )
    assert found.returncode == 4
    assert found.stdout == ""
    assert len(found.stderr.splitlines()) == 1
    assert found.stderr.endswith(
        "error: the compiler crashed with SIGFPE while reading the module [compiler-crashed]\n"
    )
    assert not output.exists()
