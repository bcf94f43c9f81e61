"""Files are read whole, and written whole or not at all."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Any

import pytest

from hlopass.diagnostics import Diagnostic, HlopassError
from hlopass.files import read_bytes, write_whole


def mistake(action: Any, *arguments: Any) -> Diagnostic:
    """The one diagnostic that a call raises."""
    with pytest.raises(HlopassError) as caught:
        action(*arguments)
    (found,) = caught.value.diagnostics
    return found


def mode(path: Path) -> int:
    """A file's permissions."""
    return stat.S_IMODE(path.stat().st_mode)


def test_a_new_file_has_the_mode_that_the_umask_gives(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write_whole(tmp_path / "new", b"data")
    finally:
        os.umask(before)
    assert (tmp_path / "new").read_bytes() == b"data"
    assert mode(tmp_path / "new") == 0o640


@pytest.mark.parametrize("bits", [0o600, 0o664, 0o755, 0o444])
def test_the_mode_of_an_old_file_is_kept(tmp_path: Path, bits: int) -> None:
    path = tmp_path / "old"
    path.write_bytes(b"old")
    path.chmod(bits)
    write_whole(path, b"new")
    assert path.read_bytes() == b"new" and mode(path) == bits
    assert os.listdir(tmp_path) == ["old"]


@pytest.mark.parametrize("moment", ["os.fchmod", "os.replace"])
@pytest.mark.parametrize("problem", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_an_interrupted_write_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: str, problem: BaseException
) -> None:
    path = tmp_path / "old"
    path.write_bytes(b"old")

    def fail(*_: Any) -> None:
        raise problem

    monkeypatch.setattr(moment, fail)
    with pytest.raises((HlopassError, KeyboardInterrupt)) as caught:
        write_whole(path, b"new" * 1000)
    monkeypatch.undo()
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["old"], "a temporary file is left"
    if isinstance(caught.value, HlopassError):
        assert "no space left on device" in str(caught.value)


def test_a_link_is_followed_and_stays(tmp_path: Path) -> None:
    (tmp_path / "real").write_bytes(b"old")
    (tmp_path / "link").symlink_to("real")
    write_whole(tmp_path / "link", b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_bytes() == b"new"


def test_a_link_to_nothing_makes_the_file_it_names(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("real")
    write_whole(tmp_path / "link", b"new")
    assert (tmp_path / "real").read_bytes() == b"new" and (tmp_path / "link").is_symlink()


def test_a_device_is_written_in_place() -> None:
    before = os.stat(os.devnull)
    write_whole(os.devnull, b"data")
    after = os.stat(os.devnull)
    assert stat.S_ISCHR(after.st_mode) and before.st_ino == after.st_ino
    assert read_bytes(os.devnull) == b""


def test_a_pipe_is_written_in_place() -> None:
    reader, writer = os.pipe()
    try:
        write_whole(f"/dev/fd/{writer}", b"data")
        assert os.read(reader, 100) == b"data"
    finally:
        os.close(reader)
        os.close(writer)


def test_standard_output(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    write_whole("-", b"\x00data")
    assert capfdbinary.readouterr() == (b"\x00data", b"")


def test_a_long_name_can_be_written(tmp_path: Path) -> None:
    path = tmp_path / ("é" * 120)
    write_whole(path, b"data")
    assert path.read_bytes() == b"data"


def test_what_cannot_be_written(tmp_path: Path) -> None:
    found = mistake(write_whole, tmp_path, b"")
    assert (found.code, str(found.where)) == ("file-is-directory", str(tmp_path))
    assert found.message == "cannot write the file: is a directory"
    found = mistake(write_whole, tmp_path / "no" / "file", b"")
    assert found.code == "file-not-found"
    (tmp_path / "file").write_bytes(b"")
    found = mistake(write_whole, tmp_path / "file" / "below", b"")
    assert found.message == "cannot write the file: not a directory"
    found = mistake(write_whole, "a\0b", b"")
    assert found.code == "file-write" and "null" in found.message


def test_what_cannot_be_read(tmp_path: Path) -> None:
    found = mistake(read_bytes, tmp_path / "none")
    assert (found.code, str(found.where)) == ("file-not-found", str(tmp_path / "none"))
    assert found.message == "cannot read the file: no such file or directory"
    assert mistake(read_bytes, tmp_path).code == "file-is-directory"
    assert "null" in mistake(read_bytes, "a\0b").message


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read and write everything")
def test_what_is_not_permitted(tmp_path: Path) -> None:
    path = tmp_path / "secret"
    path.write_bytes(b"old")
    path.chmod(0)
    assert mistake(read_bytes, path).code == "file-not-permitted"
    tmp_path.chmod(0o500)
    try:
        assert mistake(write_whole, tmp_path / "new", b"").code == "file-not-permitted"
    finally:
        tmp_path.chmod(0o700)
