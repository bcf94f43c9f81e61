"""Inputs that people give: files, arrays and kinds, by name and index, checked before reading."""

from __future__ import annotations

import io
import pickle
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np
import pytest
from proof_programs import STEP
from safetensors.numpy import save_file
from test_verify_api import hlopass_cli

import hlopass
from hlopass import formats
from hlopass.diagnostics import Diagnostic, HlopassError
from hlopass.gspmd import parse_gspmd
from hlopass.proof import given, placing, tensor_files
from hlopass.proof.binding import bind
from hlopass.proof.bound import Bound, without_data
from hlopass.sources import bytes_of
from hlopass.values import Value

W = np.arange(12, dtype=np.float32).reshape(3, 4)
B = np.array([1, 2, 3], ml_dtypes.bfloat16)
N = np.array(7, np.int32)


def argument(index: int, name: str | None, type_: str, shape: tuple[int, ...]) -> Value:
    return Value("argument", index, name, f"tensor<{type_}>", 4, shape)


ARGUMENTS = (
    argument(0, "p['w']", "3x4xf32", (3, 4)),
    argument(1, "p['b']", "3xbf16", (3,)),
    argument(2, "n", "i32", ()),
)


def bound(inputs: Any, folder: Path = Path(), **options: Any) -> Bound:
    """What is bound of what Python, or as a list of texts the command line, says."""
    texts = isinstance(inputs, list) and all(isinstance(each, str) for each in inputs)
    held = given.of_options(inputs) if texts else given.of_python(inputs)
    held.write(folder)
    arguments = options.pop("arguments", ARGUMENTS)
    return bind(arguments, held.given, "step.mlir", arrays=folder, **options)


def refused(inputs: Any, folder: Path = Path(), **options: Any) -> tuple[Diagnostic, ...]:
    with pytest.raises(HlopassError) as caught:
        bound(inputs, folder, **options)
    return caught.value.diagnostics


def values(found: Bound) -> list[Any]:
    """The values of every input, as they go to a device."""
    whole = parse_gspmd(b"{replicated}", 0)
    seen: list[Any] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(placing, "on_device", lambda piece, _: seen.append(np.array(piece)))
        patch.setattr(placing, "joined", lambda *_: None)
        for each in found.inputs:
            placing.put(each, whole, None, [None], placing.Ledger())
    return seen


def npz(folder: Path, packed: bool) -> str:
    path = folder / "x.npz"
    save = np.savez_compressed if packed else np.savez
    save(path, **{"p['w']": np.asfortranarray(W), "p['b']": B, "n": N.astype(">i4")})
    return str(path)


def safetensors(folder: Path) -> str:
    save_file({"p['w']": W, "1": B, "n": N}, folder / "x.safetensors")
    return str(folder / "x.safetensors")


def directory(folder: Path) -> str:
    inner = folder / "given" / "deeper"
    inner.mkdir(parents=True)
    np.save(folder / "given" / "p['w'].npy", W)
    np.save(folder / "given" / "1.npy", B)
    save_file({"n": N}, inner / "rest.safetensors")
    (inner / "config.json").write_text("{}")
    return str(folder / "given")


def positions(folder: Path) -> str:
    np.savez(folder / "x.npz", W, B, N)
    return str(folder / "x.npz")


@pytest.mark.parametrize(
    "write",
    [
        pytest.param(lambda folder: npz(folder, packed=False), id="npz"),
        pytest.param(lambda folder: npz(folder, packed=True), id="compressed npz"),
        safetensors,
        directory,
        positions,
        pytest.param(
            lambda folder: {0: W.T.copy().T, "p['b']": B, "n": 7, "*": None}, id="mapping"
        ),
        pytest.param(lambda folder: (W, B, N), id="sequence"),
        pytest.param(lambda folder: {"*['w']": W, 1: B, "n": f"{safetensors(folder)}#n"}, id="mix"),
    ],
)
def test_values_come_as_they_were_given(write: Callable[[Path], Any], tmp_path: Path) -> None:
    found = values(bound(write(tmp_path), tmp_path))
    for before, after in zip((W, B, N), found, strict=True):
        assert (after.dtype, after.shape) == (before.dtype, before.shape)
        assert np.array_equal(after, before)


def test_blocks_are_read_and_not_the_whole(tmp_path: Path) -> None:
    tiles = parse_gspmd(b"{devices=[1,2]<=[2]}", 2)
    for path, read in ((safetensors(tmp_path), 48), (npz(tmp_path, packed=False), 48)):
        first = bound([path]).inputs[0]
        ledger, blocks = placing.Ledger(), []
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(placing, "on_device", lambda piece, _, b=blocks: b.append(piece))
            patch.setattr(placing, "joined", lambda *_: None)
            placing.put(first, tiles, None, [None, None], ledger)
        assert [each.tolist() for each in blocks] == [W[:, :2].tolist(), W[:, 2:].tolist()]
        assert all(each.shape == (3, 2) for each in blocks)
        counts = ledger.counts
        assert (counts.read_bytes, counts.bytes, counts.shards) == (read, 48, 2)


def test_members_that_are_not_compressed_are_mapped(tmp_path: Path) -> None:
    stored = tensor_files.tensors(npz(tmp_path, packed=False))
    assert all(isinstance(each.open(), np.memmap) for each in stored)
    assert not any(each.whole for each in stored)
    packed = tensor_files.tensors(npz(tmp_path, packed=True))
    assert all(each.whole for each in packed)


def test_no_value_is_read_to_bind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = npz(tmp_path, packed=True)

    def read(*_: Any) -> Any:
        raise AssertionError("a value was read")

    monkeypatch.setattr(np, "memmap", read)
    monkeypatch.setattr(np, "frombuffer", read)
    assert len(bound([path]).inputs) == 3


def test_a_file_of_one_tensor_is_called_as_it_or_as_is_said(tmp_path: Path) -> None:
    np.save(tmp_path / "n.npy", N)
    np.save(tmp_path / "other.npy", N)
    for said in ([str(tmp_path / "n.npy")], [f"n={tmp_path}/other.npy"], [f"2={tmp_path}/n.npy"]):
        assert bound([*said, "zeros"]).inputs[2].given
    assert bound([f"{tmp_path}/other.npy"], arguments=ARGUMENTS[2:]).inputs[0].given is True
    (found,) = refused([str(tmp_path / "other.npy")])
    assert (found.code, str(found.where)) == ("input-unknown", str(tmp_path / "other.npy"))


def test_zeros_and_placeholders() -> None:
    zeros = values(bound("zeros"))
    assert [each.any() for each in zeros] == [False] * 3
    found = bound(["placeholder", "n=zeros", "p*=made-up"])
    assert [each.open is None for each in found.inputs] == [False] * 3
    left = bound({"n": "placeholder", 0: "placeholder"}).inputs
    with pytest.raises(HlopassError) as caught:
        without_data(left, "step.mlir")
    (finding,) = caught.value.diagnostics
    assert finding.code == "input-missing"
    assert finding.message.startswith("2 inputs have no data")
    assert finding.notes == (
        "argument 0 \"p['w']\" is tensor<3x4xf32> (4 bytes)",
        "argument 2 'n' is tensor<i32> (4 bytes)",
    )


def test_what_is_not_given_is_made_up_and_told(tmp_path: Path) -> None:
    found = bound({"n": N}, tmp_path)
    assert [each.given for each in found.inputs] == [False, False, True]
    (warning,) = found.warnings
    assert (warning.code, warning.severity) == ("inputs-made-up", "warning")
    assert "2 of 3" in warning.message and "argument 1" in warning.notes[0]
    assert not bound(["n=zeros", "made-up"]).warnings
    assert not bound(None).warnings


@pytest.mark.parametrize("value", [0.5, 3, True])
def test_numbers_of_python_take_the_type_of_the_argument(value: Any, tmp_path: Path) -> None:
    scalar = (argument(0, "lr", "f32", ()),)
    (found,) = values(bound({"lr": value}, tmp_path, arguments=scalar))
    assert (found.dtype, found.shape, found.item()) == (np.float32, (), value)
    (finding,) = refused({"lr": np.float64(value)}, tmp_path, arguments=scalar)
    assert finding.code == "input-type"


class Pair(NamedTuple):
    w: Any
    b: Any


def test_trees_are_called_as_jax_calls_them(tmp_path: Path) -> None:
    import jax

    tree = {"p": {"w": [W, W + 1], "none": None}, "q": Pair(W + 2, (W + 3, W + 4)), "n": 7}

    def function(p: Any, q: Any, n: Any) -> Any:
        return p, q, n

    lowered = jax.jit(function, keep_unused=True).lower(**tree)
    program = formats.read(bytes_of(lowered, None)[0], "tree")
    names = [each.name for each in program.arguments]
    found = dict(
        zip(names, values(bound(tree, tmp_path, arguments=program.arguments)), strict=True)
    )
    expected = {"p['w'][0]": W, "p['w'][1]": W + 1, "q.w": W + 2, "q.b[0]": W + 3, "q.b[1]": W + 4}
    assert found.keys() == {*expected, "n"}
    assert all(np.array_equal(found[name], value) for name, value in expected.items())
    assert found["n"] == 7


WRONG = {
    "type": ({"n": np.zeros((), np.int64)}, "input-type", "legal: int32 of shape []"),
    "weak": ({"n": 0.5}, "input-type", "legal: int32 of shape []"),
    "shape": ({"p['w']": W.T}, "input-shape", "legal: float32 of shape [3, 4]"),
    "one-dimensional": ({"n": N[None]}, "input-shape", "legal: int32 of shape []"),
    "name": ({"p['v']": W}, "argument-unknown", "did you mean \"p['w']\"?"),
    "index": ({3: W}, "index-out-of-range", None),
    "too many": ((W, B, N, N), "index-out-of-range", None),
    "twice": ({0: W, "p['w']": W}, "input-twice", None),
    "pattern": ({"p*": W}, "input-shape", "legal: bfloat16 of shape [3]"),
    "objects": ({"n": np.array([{}])}, "input-source", given.LEGAL),
    "text": ({"n": np.array("a")}, "input-source", given.LEGAL),
    "key": ({2.5: N}, "input-source", "legal: an index, a name or a pattern"),
    "array": (W, "input-source", given.LEGAL),
    "bits": ({"p['b']": B.view(np.uint16)}, "input-type", "legal: bfloat16 of shape [3]"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_does_not_fit_is_said(case: str, tmp_path: Path) -> None:
    inputs, code, help_ = WRONG[case]
    finding = refused(inputs, tmp_path)[0]
    assert (finding.code, finding.help) == (code, help_)


def test_all_mistakes_are_found_at_once(tmp_path: Path) -> None:
    np.savez(tmp_path / "x.npz", **{"p['w']": W[:2], "p['b']": N, "m": N, "1": B})
    found = refused([str(tmp_path / "x.npz")])
    assert [each.code for each in found] == ["input-shape", "input-shape", "input-unknown"]
    assert str(found[0].where) == f"{tmp_path}/x.npz#p['w']"
    assert found[0].notes == (
        "argument 0 \"p['w']\" is tensor<3x4xf32>: float32 of shape [3, 4]",
        "the input is float32 of shape [2, 4]",
    )


def damaged(path: Path, at: int, byte: int = 0x55) -> Path:
    data = bytearray(path.read_bytes())
    data[at] ^= byte
    path.write_bytes(data)
    return path


def bad_files(folder: Path) -> dict[str, tuple[str, str]]:
    """Files that cannot be read, and the codes of what is said."""

    def written(name: str, data: bytes) -> str:
        (folder / name).write_bytes(data)
        return str(folder / name)

    whole = Path(npz(folder, packed=True)).read_bytes()
    plain = Path(npz(folder, packed=False)).read_bytes()
    buffer = io.BytesIO()
    np.save(buffer, N)
    array = buffer.getvalue()
    objects = io.BytesIO()
    np.save(objects, np.array([Explosive()]), allow_pickle=True)
    with zipfile.ZipFile(folder / "objects.npz", "w") as archive:
        archive.writestr("n.npy", objects.getvalue())
        archive.writestr("n.txt", "text")
    (folder / "empty").mkdir()
    tensors = Path(safetensors(folder)).read_bytes()
    return {
        "missing": (str(folder / "none.npz"), "file-not-found"),
        "suffix": (written("x.csv", b"1,2"), "input-file"),
        "no suffix": (str(folder / "none"), "file-not-found"),
        "empty folder": (str(folder / "empty"), "input-file"),
        "cut npz": (written("cut.npz", whole[: len(whole) // 2]), "input-corrupt"),
        "cut plain npz": (written("cut_plain.npz", plain[:-30]), "input-corrupt"),
        "no zip": (written("text.npz", b"not a zip file"), "input-corrupt"),
        "empty npz": (written("empty.npz", b""), "input-corrupt"),
        "cut npy": (written("cut.npy", array[:-2]), "input-corrupt"),
        "header": (written("header.npy", array[:40]), "input-corrupt"),
        "magic": (written("magic.npy", b"\x93NUMPX" + array[6:]), "input-corrupt"),
        "literal": (written("lit.npy", array.replace(b"'desc", b"(((((")), "input-corrupt"),
        "version": (written("version.npy", b"\x93NUMPY\x09" + array[7:]), "input-corrupt"),
        "objects": (written("objects.npy", objects.getvalue()), "input-object"),
        "objects in npz": (str(folder / "objects.npz"), "input-object"),
        "safetensors": (written("cut.safetensors", tensors[:-8]), "input-corrupt"),
        "text safetensors": (written("text.safetensors", b"nothing"), "input-corrupt"),
        "no tensor": (f"{folder}/x.safetensors#m", "input-unknown"),
        "many": (f"n={folder}/x.safetensors", "input-many"),
    }  # fmt: skip


class Explosive:
    """What must not be unpickled."""

    def __reduce__(self) -> Any:
        return pytest.fail, ("a file was unpickled",)


BAD_FILES = [
    *("missing", "suffix", "no suffix", "empty folder", "cut npz", "cut plain npz", "no zip"),
    *("empty npz", "cut npy", "header", "magic", "literal", "version", "objects"),
    *("objects in npz", "safetensors", "text safetensors", "no tensor", "many"),
]


def test_the_bad_files_are_all_tested(tmp_path: Path) -> None:
    assert list(bad_files(tmp_path)) == BAD_FILES


@pytest.mark.parametrize("case", BAD_FILES)
def test_bad_files_are_diagnosed(case: str, tmp_path: Path) -> None:
    option, code = bad_files(tmp_path)[case]
    (finding,) = refused([option])
    assert finding.code == code
    assert finding.where is not None
    assert "Traceback" not in str(finding)


def test_damage_within_compressed_data_is_found_where_it_is_read(tmp_path: Path) -> None:
    path = Path(npz(tmp_path, packed=True))
    with zipfile.ZipFile(path) as archive:
        info = archive.getinfo("p['w'].npy")
    damaged(path, info.header_offset + 30 + len(info.filename) + 20 + 40)
    with pytest.raises(HlopassError) as caught:
        values(bound([str(path)]))
    (finding,) = caught.value.diagnostics
    assert finding.code == "input-corrupt"


def test_objects_given_in_python_are_not_pickled_either() -> None:
    assert pickle.dumps(Explosive())
    (finding,) = refused({"n": np.array([Explosive()], object)})
    assert finding.code == "input-source"


def test_a_missing_library_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = safetensors(tmp_path)
    monkeypatch.setitem(__import__("sys").modules, "safetensors", None)
    (finding,) = refused([path])
    assert (finding.code, finding.help) == ("input-library", "pip install 'hlopass[safetensors]'")


def test_a_program_runs_on_what_it_is_given(tmp_path: Path) -> None:
    np.savez(tmp_path / "x.npz", w=np.full(4, 3, np.float32))
    proof = hlopass.verify(STEP, inputs=str(tmp_path / "x.npz"))
    transfers = proof.report.transfers
    assert proof.ok and transfers is not None
    assert (transfers.tensors, transfers.read_bytes, transfers.bytes) == (1, 16, 16)
    assert hlopass.verify(STEP, inputs={"w": np.ones(4, np.float32)}).ok
    with pytest.raises(HlopassError) as caught:
        hlopass.verify(STEP, inputs="placeholder")
    assert caught.value.diagnostics[0].code == "input-missing"
    compiled = hlopass.verify(STEP, inputs="placeholder", mode="compile")
    assert compiled.ok and compiled.report.transfers is None
    assert compiled.donations[0].evidence.aliased is True


@pytest.mark.parametrize(
    ("options", "status", "said"),
    [
        (["--inputs", "good.npz"], 0, "read 16 bytes, the least possible"),
        (["--inputs", "w=good.npz#w"], 0, "moved 1 tensor as 1 shard: 16 bytes"),
        (["--inputs", "cut.npz"], 1, "cut.npz: error: the file is damaged"),
        (["--inputs", "none.npz"], 1, "none.npz: error: cannot read the file"),
        (["--inputs", "v=zeros"], 1, "--inputs v=zeros: error: 'v' is the name of no argument"),
        (["--inputs", "placeholder"], 1, "error: 1 input has no data"),
        (["--inputs", "placeholder", "--compile-only"], 0, "16 bytes; not run"),
        (["--inputs", "w=zeros", "--inputs", "0=zeros"], 1, "[input-twice]"),
    ],
)
def test_on_the_command_line(
    options: list[str], status: int, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    np.savez("good.npz", w=np.ones(4, np.float32))
    Path("cut.npz").write_bytes(Path("good.npz").read_bytes()[:-40])
    Path("step.mlir").write_text(STEP)
    done = hlopass_cli("verify", "step.mlir", *options)
    assert done.exit_code == status
    assert said in done.output
    assert len(list(tmp_path.iterdir())) == 3


def test_rewriting_verifies_on_what_is_given_or_writes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("step.mlir").write_text(STEP)
    rewrite = ("rewrite", "step.mlir", "-o", "out.mlir", "--inputs", "placeholder")
    assert hlopass_cli(*rewrite).exit_code == 2
    assert hlopass_cli(*rewrite, "--verify").exit_code == 1
    assert not Path("out.mlir").exists()
    assert hlopass_cli(*rewrite, "--verify=compile").exit_code == 0
    assert Path("out.mlir").exists()
    two = STEP.replace("%w:", "%g: tensor<4xf32>, %w:")
    Path("two.mlir").write_text(two)
    done = hlopass_cli("rewrite", "two.mlir", "--verify", "--inputs", "g=zeros", "-o", "out.mlir")
    assert done.exit_code == 0 and done.stderr.count("[inputs-made-up]") == 1
