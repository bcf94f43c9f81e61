"""The programs that `pairing.py` measures: what people donate, in the orders they return it.

Each is written as its author would, with no thought of which buffer serves which result.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

Tree = Any
"""A pytree of arrays, or of their shapes."""

Array = jax.Array


class Program(NamedTuple):
    """A function, what it is called with, and which of its parameters are donated.

    `spare` are donated parameters that may find no result, which is no mistake.
    """

    name: str
    function: Callable[..., Tree]
    arguments: tuple[Tree, ...]
    donated: tuple[int, ...]
    spare: tuple[int, ...] = ()


def _floats(*shape: int) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(shape, jnp.float32)


def _ints(*shape: int) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(shape, jnp.int32)


X = _floats(1024, 1024)
V = _floats(1024)
LARGE = _floats(2048, 2048)
SMALL = _floats(256, 256)
CACHE = _floats(4, 512, 8, 64)
TOKEN = _floats(4, 1, 8, 64)
INDEX = _ints()
FLAG = jax.ShapeDtypeStruct((), jnp.bool_)


# Returned in another order


def swap(a: Array, b: Array) -> Tree:
    """Each result computed from the other argument."""
    return b * 2, a + 1


def swapped_returns(a: Array, b: Array) -> Tree:
    """The arguments themselves, the other way round."""
    return b, a


def permuted_returns(a: Array, b: Array, c: Array) -> Tree:
    """Three in a circle."""
    return c + 1, a * 2, b - 1


def double_buffer(front: Array, back: Array) -> Tree:
    """A stencil step: the new grid is written over the one before the last."""
    del back
    around = jnp.roll(front, 1, 0) + jnp.roll(front, -1, 0)
    return front + 0.1 * (around - 2 * front), front


def pipeline_rotation(stages: Tree, fed: Array) -> Tree:
    """Activations move on by one stage, each changed on its way."""
    moved = [jnp.tanh(stage) * 0.5 for stage in stages]
    return [fed + 1, *moved[:-1]], moved[-1]


def nested_jit(a: Array, b: Array) -> Tree:
    """The swap happens in a function that is called."""
    return jax.jit(lambda x, y: jax.jit(swap)(y, x))(b, a)


# Optimizers


def _adam(p: Array, m: Array, v: Array, g: Array) -> tuple[Array, Array, Array]:
    m = 0.9 * m + 0.1 * g
    v = 0.999 * v + 0.001 * g * g
    return p - 0.01 * m / (jnp.sqrt(v) + 1e-8), m, v


def adam_reversed(p: Array, m: Array, v: Array, g: Array) -> Tree:
    """Adam that returns the state first."""
    return _adam(p, m, v, g)[::-1]


def adam_in_order(p: Array, m: Array, v: Array, g: Array) -> Tree:
    """Adam that returns what it takes, in order."""
    return _adam(p, m, v, g)


def momentum_sgd(p: Array, velocity: Array, g: Array) -> Tree:
    """The velocity is returned before the parameter."""
    velocity = 0.9 * velocity + g
    return velocity, p - 0.1 * velocity


def ema(p: Array, average: Array, g: Array) -> Tree:
    """A moving average of the updated parameter, returned first."""
    p = p - 0.1 * g
    return 0.99 * average + 0.01 * p, p


def target_network(online: Array, target: Array, g: Array) -> Tree:
    """The slow copy of a network follows the fast one; the gradient is donated too."""
    return 0.995 * target + 0.005 * online, online - 0.1 * g


def gradient_accumulation(params: Tree, total: Tree, x: Array) -> Tree:
    """The loss, the gradients added up, and the parameters as they were."""
    loss, grads = jax.value_and_grad(_mlp_loss)(params, x)
    return loss, jax.tree.map(jnp.add, total, grads), params


def train_step(params: Tree, state: Tree, x: Array) -> Tree:
    """A step that returns the loss, the optimizer's state, and the parameters."""
    loss, grads = jax.value_and_grad(_mlp_loss)(params, x)
    state = jax.tree.map(lambda m, g: 0.9 * m + g, state, grads)
    return loss, state, jax.tree.map(lambda p, m: p - 0.1 * m, params, state)


def _mlp_loss(params: Tree, x: Array) -> Array:
    for layer in params:
        x = jnp.tanh(x @ layer["w"] + layer["b"])
    return jnp.square(x).mean()


def batch_norm_statistics(x: Array, mean: Array, var: Array) -> Tree:
    """Normalizes, and returns the variance before the mean."""
    new_mean, new_var = x.mean(0), x.var(0)
    y = (x - new_mean) * lax.rsqrt(new_var + 1e-5)
    return y, 0.9 * var + 0.1 * new_var, 0.9 * mean + 0.1 * new_mean


# Caches and buffers


def kv_crossed(k: Array, v: Array, key: Array, value: Array, at: Array) -> Tree:
    """Two caches written at a position and returned the other way round."""
    start = (0, at, 0, 0)
    return lax.dynamic_update_slice(v, value, start), lax.dynamic_update_slice(k, key, start)


def kv_decode(query: Array, k: Array, v: Array, key: Array, value: Array, at: Array) -> Tree:
    """Attention over the caches after writing; they are returned behind the output."""
    start = (0, at, 0, 0)
    k, v = lax.dynamic_update_slice(k, key, start), lax.dynamic_update_slice(v, value, start)
    scores = jnp.einsum("bqhd,bkhd->bhqk", query, k)
    visible = jnp.arange(k.shape[1]) <= at
    weights = jax.nn.softmax(jnp.where(visible, scores, -1e9))
    return jnp.einsum("bhqk,bkhd->bqhd", weights, v), v, k


def ring_buffer(buffer: Array, at: Array, row: Array) -> Tree:
    """The next position, and the buffer with one more row."""
    start = (at % buffer.shape[0], 0)
    return at + 1, lax.dynamic_update_slice(buffer, row[None], start)


def shifted_history(history: Array, row: Array) -> Tree:
    """The oldest row drops out and the rest moves: it cannot happen in place."""
    return jnp.concatenate([history[1:], row[None]])


def replay_buffer(states: Array, actions: Array, new: Array, act: Array, where: Array) -> Tree:
    """Transitions scattered into two buffers, returned the other way round."""
    return actions.at[where].set(act), states.at[where].set(new)


# Control flow


def scan_carries(h: Array, c: Array, xs: Array) -> Tree:
    """A recurrent cell over a sequence, its carries returned in another order."""

    def cell(carry: Tree, x: Array) -> Tree:
        h, c = carry
        c = 0.5 * c + jnp.tanh(h + x)
        return (jnp.tanh(c) * 0.5, c), None

    (h, c), _ = lax.scan(cell, (h, c), xs)
    return c, h


def while_carries(a: Array, b: Array) -> Tree:
    """Two carries of a loop, returned the other way round."""

    def body(_: Array, carry: Tree) -> Tree:
        return carry[0] * 0.9 + carry[1], carry[1] * 0.5

    a, b = lax.fori_loop(0, 8, body, (a, b))
    return b, a


def cond_update(flag: Array, p: Array, m: Array, g: Array) -> Tree:
    """A step that is taken, or not when the gradient is no good."""

    def take(p: Array, m: Array) -> Tree:
        m = 0.9 * m + g
        return m, p - 0.1 * m

    return lax.cond(flag, take, lambda p, m: (m, p), p, m)


def switch(which: Array, a: Array, b: Array) -> Tree:
    """One of three updates, returned the other way round."""
    branches = [
        lambda a, b: (b, a),
        lambda a, b: (b * 2, a + 1),
        lambda a, b: (b - a.sum(), a * 0.5),
    ]
    return lax.switch(which, branches, a, b)


# Reuse that is hard, or cannot be had


def matmul_chain(a: Array, b: Array, c: Array) -> Tree:
    """Products of products, each argument needed by a later one."""
    first = jnp.tanh(a @ b)
    second = jnp.tanh(first @ c)
    return second + a, first - c, second @ first + b


def square(x: Array) -> Tree:
    """The product of a matrix with itself."""
    return x @ x


def sort(a: Array, b: Array) -> Tree:
    """Sorted rows of one argument, the other one scaled."""
    return b * 2, lax.sort(a)


def cumsum(a: Array, b: Array) -> Tree:
    """Running sums of one argument, the other one scaled."""
    return b * 2, lax.cumsum(a)


def transposed(a: Array, b: Array) -> Tree:
    """Each result reads one argument across."""
    return b + a.T, a * 2


def only_read(x: Array, w: Array, batch: Array) -> Tree:
    """A weight and a batch that are donated though nothing replaces them."""
    return x - 0.1 * (batch @ w).sum(0), jnp.square(batch).mean()


def reshaped(a: Array, b: Array) -> Tree:
    """Results in another shape than the arguments, in another order."""
    return (b * 2).reshape(-1, 512), a.reshape(-1, 512)


def mixed_dtypes(a: Array, counts: Array, b: Array) -> Tree:
    """Floats and integers of one size, in another order."""
    return counts + 1, b * 2, a - counts.astype(jnp.float32)


_LAYER = {"b": _floats(512), "w": _floats(512, 512)}
_LAYERS = [_LAYER] * 3
_BATCH = _floats(128, 512)

PROGRAMS = (
    Program("swap", swap, (LARGE, LARGE), (0, 1)),
    Program("swapped_returns", swapped_returns, (X, X), (0, 1)),
    Program("permuted_returns", permuted_returns, (X, X, X), (0, 1, 2)),
    Program("double_buffer", double_buffer, (X, X), (0, 1)),
    Program("pipeline_rotation", pipeline_rotation, ([X] * 4, X), (0, 1)),
    Program("nested_jit", nested_jit, (X, X), (0, 1)),
    Program("adam_reversed", adam_reversed, (LARGE,) * 4, (0, 1, 2)),
    Program("adam_in_order", adam_in_order, (LARGE,) * 4, (0, 1, 2)),
    Program("momentum_sgd", momentum_sgd, (X, X, X), (0, 1)),
    Program("ema", ema, (X, X, X), (0, 1)),
    Program("target_network", target_network, (X, X, X), (0, 1, 2), spare=(0, 2)),
    Program("gradient_accumulation", gradient_accumulation, (_LAYERS, _LAYERS, _BATCH), (0, 1)),
    Program("train_step", train_step, (_LAYERS, _LAYERS, _BATCH), (0, 1)),
    Program("batch_norm_statistics", batch_norm_statistics, (X, V, V), (1, 2)),
    Program("kv_crossed", kv_crossed, (CACHE, CACHE, TOKEN, TOKEN, INDEX), (0, 1)),
    Program("kv_decode", kv_decode, (TOKEN, CACHE, CACHE, TOKEN, TOKEN, INDEX), (1, 2)),
    Program("ring_buffer", ring_buffer, (X, INDEX, V), (0, 1)),
    Program("shifted_history", shifted_history, (X, V), (0,)),
    Program(
        "replay_buffer",
        replay_buffer,
        (X, X, _floats(8, 1024), _floats(8, 1024), _ints(8)),
        (0, 1),
    ),
    Program("scan_carries", scan_carries, (SMALL, SMALL, _floats(16, 256, 256)), (0, 1)),
    Program("while_carries", while_carries, (X, X), (0, 1)),
    Program("cond_update", cond_update, (FLAG, X, X, X), (1, 2)),
    Program("switch", switch, (INDEX, X, X), (1, 2)),
    Program("matmul_chain", matmul_chain, (SMALL, SMALL, SMALL), (0, 1, 2)),
    Program("square", square, (SMALL,), (0,)),
    Program("sort", sort, (SMALL, SMALL), (0, 1)),
    Program("cumsum", cumsum, (SMALL, SMALL), (0, 1)),
    Program("transposed", transposed, (X, X), (0, 1)),
    Program("only_read", only_read, (V, X, X), (0, 1, 2), spare=(1, 2)),
    Program("reshaped", reshaped, (X, X), (0, 1)),
    Program("mixed_dtypes", mixed_dtypes, (X, _ints(1024, 1024), X), (0, 1, 2)),
)
