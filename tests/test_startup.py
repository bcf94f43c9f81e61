"""A module that is deferred: there when it is wanted, and not before."""

from __future__ import annotations

import subprocess
import sys

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
