"""A module that is deferred: there when it is wanted, and not before."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

USES = {
    "attribute": "import colorsys; print(colorsys.rgb_to_hls(1, 1, 1))",
    "submodule": "import xml.dom; print(xml.dom.Node.TEXT_NODE)",
    "from": "from colorsys import rgb_to_hls; print(rgb_to_hls(1, 1, 1))",
}


def output(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout


def test_a_deferred_module_is_the_module() -> None:
    for name, use in USES.items():
        module = "xml" if name == "submodule" else "colorsys"
        defer = "import sys; from hlopass.startup import _Deferred\n"
        defer += f"sys.modules['{module}'] = _Deferred('{module}')\n"
        assert output(defer + use) == output(use)
        assert output(f"{defer}import {module}; print(type(sys.modules['{module}']).__name__)") == (
            "_Deferred\n"
        )


def test_the_command_line_rewrites_without_numpy() -> None:
    code = (
        "import sys; from hlopass import startup; startup.prepare()\n"
        "import hlopass, numpy\n"
        "text = 'func.func @main(%a: tensor<f32>) -> tensor<f32> { return %a : tensor<f32> }'\n"
        "assert hlopass.rewrite(text, donate=[0]).changed\n"
        "print('numpy._core' in sys.modules, numpy.arange(2).sum(), 'numpy._core' in sys.modules)"
    )
    assert output(code) == "False 1 True\n"


def test_the_process_that_waits_has_loaded_little() -> None:
    code = (
        "import sys, hlopass.__main__; print({'click', 'dataclasses', 'jaxlib'} & {*sys.modules})"
    )
    assert output(code) == "set()\n"


def test_the_compilers_library_is_loaded_beside_the_rest() -> None:
    spec = importlib.util.find_spec("jaxlib")
    assert spec is not None and spec.origin is not None
    library = Path(spec.origin).with_name("libjax_common.so")
    if not library.exists():
        pytest.skip("this jaxlib has no such library")
    code = (
        "import ctypes, os, threading; from hlopass import startup; startup.prepare()\n"
        "[t.join() for t in threading.enumerate() if t.daemon]\n"
        f"ctypes.CDLL({str(library)!r}, os.RTLD_NOW | os.RTLD_NOLOAD); print('loaded')"
    )
    assert output(code) == "loaded\n"
