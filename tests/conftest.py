"""Options and fixtures of all tests."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("repeatable", deadline=None, derandomize=True)
settings.register_profile("search", deadline=None, max_examples=3000)
settings.load_profile("repeatable")

SHARED = Path(__file__).parent.parent.parent / "shared"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="rewrite the whole-text goldens")


@pytest.fixture(scope="session")
def corpus() -> Path:
    """The folder of real modules, where this machine has it."""
    folder = SHARED / "corpus"
    if not folder.is_dir():
        pytest.skip(f"no corpus of real modules at {folder}")
    return folder
