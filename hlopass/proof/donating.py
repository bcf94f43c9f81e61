"""Calls of exported programs that really donate."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from hlopass import donation_attrs, formats
from hlopass.diagnostics import Diagnostic, HlopassError
from hlopass.program import Program
from hlopass.values import Value


class Order(NamedTuple):
    """An order of a program's leaves in which JAX pairs as the program says.

    JAX ties donated arguments to results of their type, first come first served: donated
    arguments come first, and their results in the same order. `donated` counts them.
    """

    arguments: tuple[int, ...]
    results: tuple[int, ...]
    donated: int


def donating(exported: Any) -> Callable[..., Any]:
    """A function that calls an exported program, and gives its donated arguments away.

    `exported`: a `jax.export.Exported` whose module has donations, as `jax.export.deserialize`
    or `Rewritten.exported` gives it. `Exported.call` by itself donates nothing: its donations
    mean something to the function that XLA compiles alone, and that is the caller's.
    """
    import jax

    if not hasattr(exported, "mlir_module_serialized"):
        message = f"cannot call {type(exported).__name__}: legal is a jax.export.Exported"
        raise HlopassError(Diagnostic("source-type", message))
    program = formats.read(exported.mlir_module_serialized, str(exported.fun_name))
    order = order_of(program, exported.module_kept_var_idx, len(exported.in_avals))
    back = sorted(range(len(order.results)), key=order.results.__getitem__)

    def in_order(*leaves: Any) -> list[Any]:
        placed = dict(zip(order.arguments, leaves, strict=True))
        flat = [placed[index] for index in range(len(leaves))]
        args, kwargs = jax.tree.unflatten(exported.in_tree, flat)
        results = jax.tree.leaves(exported.call(*args, **kwargs))
        return [results[index] for index in order.results]

    compiled = jax.jit(in_order, donate_argnums=tuple(range(order.donated)))

    def call(*args: Any, **kwargs: Any) -> Any:
        leaves, tree = jax.tree.flatten((args, kwargs))
        if tree != exported.in_tree:
            message = f"the arguments are {tree}, and the program takes {exported.in_tree}"
            raise HlopassError(Diagnostic("arguments-differ", message))
        results = compiled(*(leaves[index] for index in order.arguments))
        return jax.tree.unflatten(exported.out_tree, [results[index] for index in back])

    return call


def order_of(program: Program, kept: tuple[int, ...], leaves: int) -> Order:
    """The order for a program whose last arguments are the `kept` ones of so many leaves.

    What stands before them, the platform's index or sizes of dimensions, and before the
    results, tokens, JAX adds by itself.
    """
    before = len(program.arguments) - len(kept)
    aliases: list[tuple[int, Value | None]] = []
    donors: list[tuple[int, Value | None]] = []
    for each in donation_attrs.read(program):
        at = each.argument.index - before
        if at >= 0:
            (donors if each.result is None else aliases).append((kept[at], each.result))
    tokens = sum(result.bytes is None and "token" in result.type for result in program.results)
    first = [result.index - tokens for _, result in aliases if result is not None]
    donated = [leaf for leaf, _ in (*aliases, *donors)]
    return Order(
        (*donated, *(leaf for leaf in range(leaves) if leaf not in donated)),
        (*first, *(r for r in range(len(program.results) - tokens) if r not in first)),
        len(donated),
    )
