"""Real modules, cut, flipped and spliced: only the documented exit statuses come of them."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hlopass import cli_support
from hlopass.cli import cli

CORPUS = Path(__file__).parent.parent.parent / "shared" / "corpus"
LARGEST = 200_000
FILES = [
    path
    for path in sorted(CORPUS.rglob("*"))
    if path.is_file() and path.name != "INDEX.tsv" and path.stat().st_size < LARGEST
]
CHOSEN = FILES[:: max(1, len(FILES) // 50)][:50]
COMMANDS = (
    ["inspect"],
    ["rewrite", "--automatic", "dataflow", "--paranoid", "-o", "out"],
    ["convert", "--emit", "bytecode", "-o", "out"],
    ["convert", "--emit", "text", "--split-input-file", "-o", "out"],
)

pytestmark = pytest.mark.skipif(not CHOSEN, reason="needs ../shared/corpus")


@st.composite
def damaged(draw: Any) -> bytes:
    """A real module, damaged; or bytes that never were one."""
    data = bytearray(draw(st.sampled_from(CHOSEN)).read_bytes())
    how = draw(st.sampled_from(["cut", "flip", "splice", "random"]))
    place = draw(st.integers(0, len(data)))
    if how == "cut":
        return bytes(data[:place])
    if how == "flip":
        for at in draw(st.lists(st.integers(0, 8 * len(data) - 1), min_size=1, max_size=8)):
            data[at // 8] ^= 1 << at % 8
        return bytes(data)
    if how == "splice":
        other = draw(st.sampled_from(CHOSEN)).read_bytes()
        return bytes(data[:place]) + other[draw(st.integers(0, len(other))) :]
    return bytes(data[: draw(st.integers(0, 16))]) + draw(st.binary(max_size=200))


def ended(arguments: list[str], said: Path) -> int:
    """How the command line ends in a fork of this process: its status, or minus a signal."""
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        with said.open("w") as file:
            for number in (1, 2):
                os.dup2(file.fileno(), number)
            sys.stdout = sys.stderr = file
            sys.argv = ["hlopass", *arguments]
            status = 70
            try:
                status = cli_support.run(cli)
                file.flush()
            finally:
                os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@pytest.mark.slow
@settings(
    max_examples=2000, deadline=None, suppress_health_check=list(HealthCheck), print_blob=False
)
@given(data=damaged(), command=st.sampled_from(COMMANDS))
def test_damaged_modules(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, command: list[str]
) -> None:
    folder = tmp_path_factory.getbasetemp()
    source, out, said = folder / "in", folder / "out", folder / "said"
    source.write_bytes(data)
    out.write_bytes(b"before")
    here = os.getcwd()
    os.chdir(folder)
    try:
        limits = ["--timeout", "20", "--max-memory", "4G"]
        status = ended([command[0], "in", *command[1:], *limits], said)
    finally:
        os.chdir(here)
    words = said.read_text(errors="replace")
    assert status in (0, 1, 4) or status in SIGNALS, (status, words)
    assert "Traceback" not in words and "[internal]" not in words, words
    assert "error:" in words or status != 1, words
    written = status == 0 or (status == 1 and "modules failed" in words)
    assert written or out.read_bytes() == b"before"
    assert source.read_bytes() == data


SIGNALS = [-each for each in (signal.SIGSEGV, signal.SIGABRT, signal.SIGFPE, signal.SIGALRM)]
"""What the guard of the command line makes a sentence and exit status 4 of."""
