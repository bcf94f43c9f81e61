"""The real programs in this folder: train and decode steps as JAX lowers them.

    python testdata/frontends/generate.py           # write the files again
    python testdata/frontends/generate.py --check   # exit 1 if a file says something else

The donation manifests, `*.donate.json`, and `pytorch_xla_train_step.mlir` are written by hand.
"""

from __future__ import annotations

import argparse
import itertools
import math
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

FOLDER = Path(__file__).parent
LARGE_LAYERS = 29

Tree = Any
"""A pytree of arrays, or of their shapes."""


class Program(NamedTuple):
    """A function to lower, and the donation that its manifest asks for, said JAX's way."""

    name: str
    function: Callable[..., Tree]
    arguments: tuple[Tree, ...]
    donate_argnums: tuple[int, ...]

    @property
    def path(self) -> Path:
        """The committed file."""
        return FOLDER / f"{self.name}.mlir"

    def text(self) -> str:
        """The program lowered for CPU, without donation; its arguments' names are locations."""
        with _no_source_positions():
            traced = jax.jit(self.function).trace(*self.arguments)
            module = traced.lower(lowering_platforms=("cpu",)).compiler_ir("stablehlo")
            return str(module.operation.get_asm(enable_debug_info=True))


class Sizes(NamedTuple):
    """The dimensions of a transformer."""

    layers: int = 2
    width: int = 64
    heads: int = 4
    hidden: int = 256
    vocabulary: int = 256
    length: int = 32
    batch: int = 8


# Transformer


def transformer_train_step(state: Tree, batch: Tree) -> tuple[Tree, jax.Array]:
    """One Adam step of a decoder on next-token prediction: the new state, and the loss."""
    loss, grads = jax.value_and_grad(_transformer_loss)(state["params"], batch)
    return _adam(state, grads), loss


def decode_step(
    params: Tree, cache: Tree, token: jax.Array, pos: jax.Array
) -> tuple[jax.Array, Tree, jax.Array]:
    """One token through the decoder: logits, the cache with it at `pos`, the next position."""
    x = params["embed"][token][:, None] + params["position"][pos]
    new_cache = []
    for block, old in zip(params["blocks"], cache, strict=True):
        query, key, value = _project(block, x)
        new = {
            "k": jax.lax.dynamic_update_slice(old["k"], key, (0, pos, 0, 0)),
            "v": jax.lax.dynamic_update_slice(old["v"], value, (0, pos, 0, 0)),
        }
        visible = jnp.arange(new["k"].shape[1]) <= pos
        x = _finish_block(block, x, _attend(query, new["k"], new["v"], visible))
        new_cache.append(new)
    return _logits(params, x)[:, 0], new_cache, pos + 1


def _transformer_loss(params: Tree, batch: Tree) -> jax.Array:
    length = batch["tokens"].shape[1]
    causal = jnp.tril(jnp.ones((length, length), bool))
    x = params["embed"][batch["tokens"]] + params["position"]
    for block in params["blocks"]:
        x = _finish_block(block, x, _attend(*_project(block, x), causal))
    return _cross_entropy(_logits(params, x), batch["targets"])


def _project(block: Tree, x: jax.Array) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Query, key and value, each [batch, length, heads, head width]."""
    x = _layer_norm(block["norm_1"], x)
    query, key, value = (jnp.einsum("bld,dhk->blhk", x, block[name]) for name in ("q", "k", "v"))
    return query, key, value


def _attend(query: jax.Array, key: jax.Array, value: jax.Array, visible: jax.Array) -> jax.Array:
    scores = jnp.einsum("bqhd,bkhd->bhqk", query, key) / math.sqrt(query.shape[-1])
    weights = jax.nn.softmax(jnp.where(visible, scores, -1e9))
    return jnp.einsum("bhqk,bkhd->bqhd", weights, value)


def _finish_block(block: Tree, x: jax.Array, attended: jax.Array) -> jax.Array:
    """The output projection and the MLP, each added to what came in."""
    x = x + jnp.einsum("blhk,hkd->bld", attended, block["out"])
    mlp = block["mlp"]
    hidden = jax.nn.gelu(_layer_norm(block["norm_2"], x) @ mlp["w1"] + mlp["b1"])
    return x + hidden @ mlp["w2"] + mlp["b2"]


def _layer_norm(norm: Tree, x: jax.Array) -> jax.Array:
    centred = x - x.mean(-1, keepdims=True)
    variance = jnp.square(centred).mean(-1, keepdims=True)
    return centred * jax.lax.rsqrt(variance + 1e-5) * norm["scale"] + norm["bias"]


def _logits(params: Tree, x: jax.Array) -> jax.Array:
    return _layer_norm(params["norm"], x) @ params["unembed"]


def _cross_entropy(logits: jax.Array, labels: jax.Array) -> jax.Array:
    log_probabilities = jax.nn.log_softmax(logits)
    return -jnp.take_along_axis(log_probabilities, labels[..., None], axis=-1).mean()


def _adam(state: Tree, grads: Tree) -> Tree:
    """The state after one step of Adam: rate 1e-3, decays 0.9 and 0.999."""
    step = state["step"] + 1
    mu = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, state["mu"], grads)
    nu = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * jnp.square(g), state["nu"], grads)
    mu_scale, nu_scale = 1 / (1 - 0.9**step), 1 / (1 - 0.999**step)

    def update(p: jax.Array, m: jax.Array, v: jax.Array) -> jax.Array:
        return p - 1e-3 * (m * mu_scale) / (jnp.sqrt(v * nu_scale) + 1e-8)

    return {
        "params": jax.tree.map(update, state["params"], mu, nu),
        "mu": mu,
        "nu": nu,
        "step": step,
    }


# Convolutional net


def convnet_train_step(state: Tree, batch: Tree, lr: jax.Array) -> tuple[Tree, jax.Array]:
    """One step of SGD with momentum: the new state, running statistics too, and the loss."""
    differentiate = jax.value_and_grad(_convnet_loss, has_aux=True)
    (loss, running), grads = differentiate(state["params"], state["running"], batch)
    momentum = jax.tree.map(lambda m, g: 0.9 * m + g, state["momentum"], grads)
    params = jax.tree.map(lambda p, m: p - lr * m, state["params"], momentum)
    return {"params": params, "momentum": momentum, "running": running}, loss


def _convnet_loss(params: Tree, running: Tree, batch: Tree) -> tuple[jax.Array, Tree]:
    x = batch["image"]
    new_running = {}
    for name, layer in params["convs"].items():
        x = jax.lax.conv_general_dilated(
            x, layer["kernel"], (2, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
        )
        x, new_running[name] = _batch_norm(layer, running[name], x)
        x = jax.nn.relu(x)
    logits = x.mean((1, 2)) @ params["head"]["w"] + params["head"]["b"]
    return _cross_entropy(logits, batch["label"]), new_running


def _batch_norm(layer: Tree, running: Tree, x: jax.Array) -> tuple[jax.Array, Tree]:
    """Normalizes by the batch's statistics, and mixes them into the running ones."""
    batch = {"mean": x.mean((0, 1, 2)), "var": x.var((0, 1, 2))}
    normal = (x - batch["mean"]) * jax.lax.rsqrt(batch["var"] + 1e-5)
    new_running = jax.tree.map(lambda old, new: 0.9 * old + 0.1 * new, running, batch)
    return normal * layer["scale"] + layer["bias"], new_running


# Shapes


def _floats(*shape: int) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(shape, jnp.float32)


def _ints(*shape: int) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(shape, jnp.int32)


def _transformer_params(sizes: Sizes) -> Tree:
    width, hidden = sizes.width, sizes.hidden
    projection = _floats(width, sizes.heads, width // sizes.heads)
    norm = {"scale": _floats(width), "bias": _floats(width)}
    block = {
        "norm_1": norm,
        "q": projection,
        "k": projection,
        "v": projection,
        "out": _floats(sizes.heads, width // sizes.heads, width),
        "norm_2": norm,
        "mlp": {
            "w1": _floats(width, hidden),
            "b1": _floats(hidden),
            "w2": _floats(hidden, width),
            "b2": _floats(width),
        },
    }
    return {
        "embed": _floats(sizes.vocabulary, width),
        "position": _floats(sizes.length, width),
        "blocks": [block] * sizes.layers,
        "norm": norm,
        "unembed": _floats(width, sizes.vocabulary),
    }


def _transformer_train_arguments(sizes: Sizes) -> tuple[Tree, ...]:
    params = _transformer_params(sizes)
    tokens = _ints(sizes.batch, sizes.length)
    state = {"params": params, "mu": params, "nu": params, "step": _ints()}
    return state, {"tokens": tokens, "targets": tokens}


def _decode_arguments(sizes: Sizes) -> tuple[Tree, ...]:
    buffer = _floats(sizes.batch, sizes.length, sizes.heads, sizes.width // sizes.heads)
    cache = [{"k": buffer, "v": buffer}] * sizes.layers
    return _transformer_params(sizes), cache, _ints(sizes.batch), _ints()


def _convnet_arguments(
    channels: tuple[int, ...] = (3, 16, 32, 64), classes: int = 10, side: int = 32, batch: int = 8
) -> tuple[Tree, ...]:
    convs, running = {}, {}
    for number, (before, after) in enumerate(itertools.pairwise(channels)):
        vector = _floats(after)
        kernel = _floats(3, 3, before, after)
        convs[f"conv_{number}"] = {"kernel": kernel, "scale": vector, "bias": vector}
        running[f"conv_{number}"] = {"mean": vector, "var": vector}
    head = {"w": _floats(channels[-1], classes), "b": _floats(classes)}
    params = {"convs": convs, "head": head}
    images = {"image": _floats(batch, side, side, channels[0]), "label": _ints(batch)}
    return {"params": params, "momentum": params, "running": running}, images, _floats()


PROGRAMS = (
    Program(
        "transformer_train_step",
        transformer_train_step,
        _transformer_train_arguments(Sizes()),
        donate_argnums=(0,),
    ),
    Program("decode_step", decode_step, _decode_arguments(Sizes()), donate_argnums=(1, 3)),
    Program("convnet_train_step", convnet_train_step, _convnet_arguments(), donate_argnums=(0,)),
)


def large_train_step() -> str:
    """A train step of about 20,000 lines, for benchmarks: too large to commit."""
    arguments = _transformer_train_arguments(Sizes(layers=LARGE_LAYERS))
    return Program("large_train_step", transformer_train_step, arguments, (0,)).text()


# Files


@contextmanager
def _no_source_positions() -> Iterator[None]:
    """Lowers without the files and lines of this machine; names of operations remain."""
    option = "jax_traceback_in_locations_limit"
    before = getattr(jax.config, option)
    jax.config.update(option, 0)
    try:
        yield
    finally:
        jax.config.update(option, before)


def _file_text(program: Program) -> str:
    """A program's text under a line that says which jax wrote it: another may print it anew."""
    return f"// Written by generate.py with jax {jax.__version__}.\n{program.text()}"


def check() -> list[str]:
    """What is wrong with the committed files, one line for each that differs."""
    problems = []
    for program in PROGRAMS:
        committed = program.path.read_text() if program.path.exists() else ""
        if committed != _file_text(program):
            header = committed.partition("\n")[0] or "no such file"
            problems.append(f"{program.path}: jax {jax.__version__} writes another text: {header}")
    return problems


def main() -> int:
    """Writes the files, or with `--check` compares them."""
    parser = argparse.ArgumentParser(description="Generates the programs of testdata/frontends.")
    parser.add_argument("--check", action="store_true", help="write nothing, exit 1 on differences")
    if parser.parse_args().check:
        problems = check()
        for problem in problems:
            print(problem, file=sys.stderr)
        return 1 if problems else 0
    for program in PROGRAMS:
        program.path.write_text(_file_text(program))
    return 0


if __name__ == "__main__":
    sys.exit(main())
