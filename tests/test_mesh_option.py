"""The text of `--mesh`."""

from __future__ import annotations

import pytest

from hlopass.diagnostics import UsageError
from hlopass.mesh_option import mesh_sizes


def test_sizes_by_axis() -> None:
    assert mesh_sizes("data=4,model=2") == {"data": 4, "model": 2}
    assert mesh_sizes(" data = 4 ") == {"data": 4}
    assert mesh_sizes("data=-1") == {"data": -1}, "what sizes are legal, the spec says"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("data", "'data' is no axis with its size"),
        ("", "'' is no axis with its size"),
        ("data=4,", "'' is no axis with its size"),
        ("=4", "'=4' is no axis with its size"),
        ("data=x", "'x' is no size for axis 'data'"),
        ("data=\u0664", "is no size for axis 'data'"),
        ("data=" + "9" * 5000, "is no size for axis 'data'"),
        ("data=4,data=2", "axis 'data' has two sizes, 4 and 2"),
    ],
)
def test_what_is_no_mesh(text: str, words: str) -> None:
    with pytest.raises(UsageError) as caught:
        mesh_sizes(text)
    (found,) = caught.value.diagnostics
    assert words in found.message
    assert found.help == "it is written data=4,model=2"
