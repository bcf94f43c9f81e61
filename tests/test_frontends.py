"""The programs in testdata/frontends: what JAX itself would do with them, and more."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import jax
import pytest

import hlopass
from hlopass import formats
from hlopass.jaxlib_compat import hlo_module_text
from hlopass.proof.client import client_of, compile_module
from hlopass.proof.evidence import alias_table

FRONTENDS = Path(__file__).parent.parent / "testdata" / "frontends"


def load_generator() -> ModuleType:
    """The script that wrote the programs."""
    spec = importlib.util.spec_from_file_location("generate", FRONTENDS / "generate.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["generate"] = module
    spec.loader.exec_module(module)
    return module


GENERATE = load_generator()
NAMES = [program.name for program in GENERATE.PROGRAMS]


def compiled_table(executable: Any) -> dict[int, int]:
    return alias_table(hlo_module_text(executable.hlo_modules()[0]).partition("\n")[0])


@pytest.mark.parametrize("pairing", ["flow", "order"])
@pytest.mark.parametrize("program", GENERATE.PROGRAMS, ids=NAMES)
def test_the_alias_table_is_that_of_jax(program: Any, pairing: Any) -> None:
    jitted = jax.jit(program.function, donate_argnums=program.donate_argnums)
    expected = compiled_table(jitted.lower(*program.arguments).compile().runtime_executable())
    manifest = FRONTENDS / f"{program.name}.donate.json"
    rewritten = hlopass.rewrite(
        FRONTENDS / f"{program.name}.mlir", donate=manifest, pairing=pairing
    )
    data = formats.write(rewritten.program, "bytecode")
    assert compiled_table(compile_module(client_of("cpu", 1), data, program.name)) == expected
    assert len(expected) == len(rewritten.donations) > 4


def test_every_parameter_and_moment_of_the_train_step_is_reused() -> None:
    path = FRONTENDS / "transformer_train_step"
    rewritten = hlopass.rewrite(f"{path}.mlir", donate=f"{path}.donate.json")
    proof = hlopass.verify(rewritten)
    assert proof.ok and proof.report.results_equal
    assert {donation.verdict for donation in proof.donations} == {"reused"}
    names = {donation.argument.name for donation in proof.donations}
    for tree in ("params", "mu", "nu"):
        assert f"state['{tree}']['blocks'][1]['mlp']['w1']" in names
    assert len(names) >= 50
    footprint = proof.report.footprint
    assert footprint is not None and footprint.with_ < footprint.without
    assert proof.report.reused_bytes == proof.report.donated_bytes


def test_a_lowered_step_and_its_module_are_read_and_left_alone() -> None:
    program = next(p for p in GENERATE.PROGRAMS if p.name == "decode_step")
    lowered = jax.jit(program.function).lower(*program.arguments)
    before = str(lowered.compiler_ir())
    from_lowered = hlopass.rewrite(lowered, donate=["cache*"])
    from_module = hlopass.rewrite(lowered.compiler_ir(), donate=["cache*"])
    assert from_lowered.text() == from_module.text()
    assert from_lowered.text().count("tf.aliasing_output") == 4
    assert str(lowered.compiler_ir()) == before


def test_results_in_another_order_cost_no_copies() -> None:
    def step(params: Any, momentum: Any, grads: Any) -> Any:
        momentum = jax.tree.map(lambda m, g: 0.9 * m + g, momentum, grads)
        params = jax.tree.map(lambda p, m: p - 0.1 * m, params, momentum)
        loss = sum(jax.numpy.sum(g) for g in jax.tree.leaves(grads))
        return loss, momentum, params

    tree = {name: jax.ShapeDtypeStruct((64, 64), "float32") for name in "abc"}
    lowered = jax.jit(step).lower(tree, tree, tree)
    donated = ["params*", "momentum*"]
    proof = hlopass.verify(hlopass.rewrite(lowered, donate=donated))
    assert proof.ok and proof.report.copies is not None
    assert proof.report.copies.with_ == proof.report.copies.without
    in_order = hlopass.verify(hlopass.rewrite(lowered, donate=donated, pairing="order"))
    assert in_order.report.copies is not None
    assert in_order.report.copies.with_ > in_order.report.copies.without


def test_the_programs_are_what_the_script_writes() -> None:
    written = (FRONTENDS / "decode_step.mlir").read_text().partition("\n")[0]
    if jax.__version__ not in written:
        pytest.skip(f"jax {jax.__version__} prints differently: {written}")
    command = [sys.executable, str(FRONTENDS / "generate.py"), "--check"]
    outcome = subprocess.run(command, capture_output=True, text=True, check=False)
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
