"""Sharded JAX programs, and what JAX and XLA make of them: a child process with 8 CPU devices.

    python tests/jax_sharded.py shardy|gspmd

For every program it prints a line of JSON: the executable's shardings of arguments and
results and its alias table, as `jax.jit` with shardings and donation makes it, and as the
program without any, rewritten by hlopass with the spec beside it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

MESH = {"data": 4, "model": 2}
Dims = list[Any]


@dataclass(frozen=True)
class Sharded:
    """A function of the arguments whose shapes are given, with their shardings by name.

    `results`: shardings of results, a list for each; None where JAX is told nothing. `donated`:
    arguments that are donated.
    """

    function: Callable[..., Any]
    shapes: dict[str, Any]
    args: dict[str, Dims]
    results: Sequence[Dims | None]
    donated: tuple[str, ...] = ()
    dtypes: dict[str, str] = field(default_factory=dict)

    def spec(self, dialect: str) -> dict[str, Any]:
        """The spec that asks for the same."""
        given = {str(index): dims for index, dims in enumerate(self.results) if dims is not None}
        return {
            "version": 1,
            "mesh": {"data": "?", "model": "?"},
            "dialect": dialect,
            "args": {name: self.args[name] for name in self.shapes if name in self.args},
            "results": {**given, "*": "follow"} if len(given) < len(self.results) else given,
        }


def programs() -> dict[str, Sharded]:
    """The programs, made when jax is there."""
    import jax
    import jax.numpy as jnp

    def layer(x: Any, w: Any) -> Any:
        return jnp.tanh(x @ w)

    def sgd(w: Any, x: Any) -> Any:
        return w - 0.1 * jax.grad(lambda w: jnp.sum(jnp.tanh(x @ w)))(w)

    def mlp(w1: Any, w2: Any, x: Any) -> Any:
        def loss(w1: Any, w2: Any) -> Any:
            return jnp.mean((layer(x, w1) @ w2) ** 2)

        value, (g1, g2) = jax.value_and_grad(loss, (0, 1))(w1, w2)
        return w1 - g1, w2 - g2, value

    def adam(p: Any, m: Any, v: Any, x: Any) -> Any:
        g = jax.grad(lambda p: jnp.sum(jnp.tanh(x @ p)))(p)
        m, v = 0.9 * m + 0.1 * g, 0.99 * v + 0.01 * g * g
        return p - 0.1 * m / (jnp.sqrt(v) + 1e-8), m, v

    def attention(q: Any, k: Any, v: Any) -> Any:
        scores = jnp.einsum("bqhd,bkhd->bhqk", q, k)
        return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), v)

    def convolution(x: Any, k: Any) -> Any:
        return jax.lax.conv_general_dilated(
            x, k, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
        )

    def scanned(x: Any, ws: Any) -> Any:
        return jax.lax.scan(lambda x, w: (layer(x, w), None), x, ws)[0]

    def cache(k: Any, new: Any, at: Any) -> Any:
        return jax.lax.dynamic_update_slice(k, new, (0, at, 0))

    def norm(x: Any, scale: Any) -> Any:
        centred = x - x.mean(-1, keepdims=True)
        return scale * centred / jnp.sqrt((centred**2).mean(-1, keepdims=True) + 1e-5)

    def steps(x: Any, w: Any) -> Any:
        return jax.lax.fori_loop(0, 3, lambda _, x: layer(x, w), x)

    two = [["data"], "model"]
    return {
        "sgd": Sharded(
            sgd,
            {"w": (16, 32), "x": (8, 16)},
            {"w": [None, "model"], "x": ["data", None]},
            [[None, "model"]],
            ("w",),
        ),
        "mlp": Sharded(
            mlp,
            {"w1": (16, 32), "w2": (32, 16), "x": (8, 16)},
            {"w1": [None, "model"], "w2": ["model", None], "x": ["data", None]},
            [[None, "model"], ["model", None], None],
            ("w1", "w2"),
        ),
        "elementwise": Sharded(
            lambda a, b: a * b + 1,
            {"a": (8, 8), "b": (8, 8)},
            {"a": two, "b": two},
            [two],
            ("a",),
        ),
        "adam": Sharded(
            adam,
            {"p": (16, 32), "m": (16, 32), "v": (16, 32), "x": (8, 16)},
            {key: ["model", "data"] for key in "pmv"} | {"x": ["data", None]},
            [["model", "data"]] * 3,
            ("p", "m", "v"),
        ),
        "attention": Sharded(
            attention,
            dict.fromkeys("qkv", (4, 8, 2, 16)),
            {key: ["data", None, "model", None] for key in "qkv"},
            [["data", None, "model", None]],
            ("q",),
        ),
        "convolution": Sharded(
            convolution,
            {"x": (8, 6, 6, 4), "k": (3, 3, 4, 8)},
            {"x": [["data", "model"], None, None, None], "k": [None, None, None, None]},
            [None],
        ),
        "scan": Sharded(
            scanned,
            {"x": (8, 16), "ws": (3, 16, 16)},
            {"x": ["data", None], "ws": [None, None, "model"]},
            [["data", None]],
            ("x",),
        ),
        "embedding": Sharded(
            lambda table, ids: jnp.take(table, ids, axis=0),
            {"table": (32, 16), "ids": (8, 4)},
            {"table": ["model", None], "ids": ["data", None]},
            [["data", None, None]],
            dtypes={"ids": "int32"},
        ),
        "cache": Sharded(
            cache,
            {"k": (8, 16, 4), "new": (8, 1, 4), "at": ()},
            {"k": ["data", None, "model"], "new": ["data", None, "model"]},
            [["data", None, "model"]],
            ("k",),
            {"at": "int32"},
        ),
        "norm": Sharded(
            norm,
            {"x": (8, 16), "scale": (16,)},
            {"x": [["model", "data"], None], "scale": ["model"]},
            [[["model", "data"], None]],
            ("x",),
        ),
        "loop": Sharded(
            steps,
            {"x": (8, 16), "w": (16, 16)},
            {"x": ["data", None], "w": [None, None]},
            [["data", None]],
            ("x",),
        ),
        "moved": Sharded(
            lambda x: x * 2,
            {"x": (8, 8)},
            {"x": ["data", None]},
            [[None, "data"]],
            ("x",),
        ),
        "scalar": Sharded(
            lambda x: (jnp.sum(x * x), jnp.max(x, axis=0)),
            {"x": (8, 6)},
            {"x": ["data", "model"]},
            [[], ["model"]],
        ),
        "left_open": Sharded(
            lambda x, w: layer(x, w),
            {"x": (8, 16), "w": (16, 32)},
            {"x": ["data", None], "w": [None, "model"]},
            [None],
        ),
        "some_arguments": Sharded(
            lambda x, w, b: layer(x, w) + b,
            {"x": (8, 16), "w": (16, 16), "b": (16,)},
            {"x": ["data", None]},
            [["data", "model"]],
        ),
    }


def facts(executable: Any) -> dict[str, Any]:
    """The shardings and the alias table of a compiled program."""
    from jaxlib import xla_client

    from hlopass.proof import evidence

    def texts(shardings: Any) -> list[str]:
        return [str(xla_client.HloSharding.from_proto(each)) for each in shardings or ()]

    return {
        "arguments": texts(executable.get_parameter_shardings()),
        "results": texts(executable.get_output_shardings()),
        "aliases": {str(k): v for k, v in sorted(evidence.read(executable).aliases.items())},
    }


def by_jax(program: Sharded) -> dict[str, Any]:
    """What `jax.jit` makes of it."""
    import jax
    import numpy as np
    from jax.sharding import Mesh, NamedSharding, PartitionSpec

    mesh = Mesh(np.array(jax.devices()).reshape(tuple(MESH.values())), tuple(MESH))

    def sharding(dims: Dims | None) -> Any:
        if dims is None:
            return None
        return NamedSharding(
            mesh, PartitionSpec(*(tuple(d) if isinstance(d, list) else d for d in dims))
        )

    given = tuple(sharding(program.args.get(name)) for name in program.shapes)
    made = tuple(sharding(dims) for dims in program.results)
    donated = [list(program.shapes).index(name) for name in program.donated]
    jitted = jax.jit(
        program.function,
        in_shardings=given,
        out_shardings=made if len(made) > 1 else made[0],
        donate_argnums=donated,
    )
    return facts(jitted.lower(*inputs(program)).compile()._executable.xla_executable)


def inputs(program: Sharded) -> list[Any]:
    """The types of the arguments."""
    import jax

    return [
        jax.ShapeDtypeStruct(shape, program.dtypes.get(name, "float32"))
        for name, shape in program.shapes.items()
    ]


def by_hlopass(program: Sharded, dialect: str) -> dict[str, Any]:
    """What XLA makes of the program without any sharding, rewritten with the spec."""
    import jax

    import hlopass

    lowered = jax.jit(program.function, keep_unused=True).lower(*inputs(program))
    rewritten = hlopass.rewrite(
        lowered, donate=list(program.donated), shard=program.spec(dialect), mesh=MESH
    )
    return facts(compiled(rewritten, dialect))


def compiled(rewritten: Any, dialect: str, devices: int = 8) -> Any:
    """The executable for so many devices, with the options that JAX gives."""
    import jax
    import numpy as np
    from jaxlib import xla_client
    from jaxlib._jax import DeviceList

    program = rewritten.program
    options = xla_client.CompileOptions()
    build = options.executable_build_options
    options.num_replicas, options.num_partitions = 1, devices
    build.num_replicas, build.num_partitions = 1, devices
    build.use_spmd_partitioning = True
    build.use_shardy_partitioner = dialect == "shardy"
    build.device_assignment = xla_client.DeviceAssignment.create(
        np.arange(devices).reshape(1, devices)
    )
    build.allow_spmd_sharding_propagation_to_parameters = [
        value.index not in program.argument_shardings for value in program.arguments
    ]
    build.allow_spmd_sharding_propagation_to_output = [
        value.index not in program.result_shardings for value in program.results
    ]
    client = jax.devices()[0].client
    return client.compile_and_load(
        rewritten.bytecode(), DeviceList(tuple(jax.devices()[:devices])), options
    )


def answers(dialect: str) -> Iterator[dict[str, Any]]:
    """Both sides of every program."""
    for name, program in programs().items():
        found: dict[str, Any] = {"program": name}
        for side, make in (("jax", by_jax), ("hlopass", lambda p: by_hlopass(p, dialect))):
            try:
                found[side] = make(program)
            except Exception as error:
                found[side] = f"{type(error).__name__}: {error}"
        yield found


def main() -> None:
    """Prints the answers."""
    import jax

    jax.config.update("jax_num_cpu_devices", 8)
    jax.config.update("jax_platforms", "cpu")
    dialect = sys.argv[1]
    jax.config.update("jax_use_shardy_partitioner", dialect == "shardy")
    for found in answers(dialect):
        print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
