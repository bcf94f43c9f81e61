"""JAX programs for a mesh of eight devices, and what XLA's partitioners make of modules.

Run as a process of its own, since the number of devices is fixed when jax first runs: a
question on standard input, the answer on standard output, both JSON.
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

DEVICES = 8


def ask(question: Any) -> Any:
    """The child's answer to `{"what": "lower"}`, or to modules to compile or to run by name."""
    done = subprocess.run(
        [sys.executable, __file__],
        input=json.dumps(question),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


def _programs() -> dict[str, Any]:
    """By name: a function, its arguments, and how it is jitted."""
    import jax
    import jax.numpy as jnp
    import numpy as np
    from jax.sharding import Mesh, NamedSharding, PartitionSpec

    mesh = Mesh(np.array(jax.devices()).reshape(4, 2), ("data", "model"))
    cube = Mesh(np.array(jax.devices()).reshape(2, 2, 2), ("x", "y", "z"))
    turned = Mesh(np.array(jax.devices())[[0, 1, 3, 2, 6, 7, 5, 4]].reshape(4, 2), ("d", "m"))
    free = PartitionSpec.UNCONSTRAINED

    def on(*spec: Any, mesh: Any = mesh) -> Any:
        return NamedSharding(mesh, PartitionSpec(*spec))

    def keep(x: Any, *spec: Any, mesh: Any = mesh) -> Any:
        return jax.lax.with_sharding_constraint(x, on(*spec, mesh=mesh))

    def array(*shape: int) -> Any:
        size = int(np.prod(shape))
        return jnp.asarray((np.arange(size) % 13 - 6).reshape(shape) / 8, jnp.float32)

    def matmul(a: Any, b: Any) -> Any:
        return a @ b

    def mlp(x: Any, up: Any, down: Any) -> Any:
        return keep(keep(jnp.tanh(x @ up), "data", "model") @ down, "data", free)

    def scan(x: Any, w: Any) -> Any:
        def body(carry: Any, _: Any) -> Any:
            return keep(jnp.tanh(carry @ w), "data"), None

        return jax.lax.scan(body, x, None, length=3)[0]

    def conv(x: Any, w: Any) -> Any:
        return jax.lax.conv(x, w, (1, 1), "SAME")

    def embed(table: Any, tokens: Any) -> Any:
        return keep(table[tokens], "data", None, "model")

    def attention(q: Any, k: Any, v: Any) -> Any:
        scores = keep(jnp.einsum("bqhd,bkhd->bhqk", q, k), "data", "model")
        return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), v)

    def step(w: Any, m: Any, x: Any) -> Any:
        grad = jax.grad(lambda w: jnp.mean((x @ w) ** 2))(w)
        m = 0.9 * m + grad
        return m, w - 0.1 * m, jnp.sum(m)

    def branch(x: Any, y: Any) -> Any:
        return jax.lax.cond(x[0, 0] > 0, lambda: keep(x + y, "data"), lambda: keep(x - y, "data"))

    def double(x: Any) -> Any:
        return x * 2

    return {
        "matmul": (
            matmul,
            [array(8, 16), array(16, 4)],
            {"in_shardings": (on("data"), on(None, "model")), "out_shardings": on("data", "model")},
        ),
        "mlp": (
            mlp,
            [array(8, 16), array(16, 32), array(32, 16)],
            {
                "in_shardings": (on("data"), on(None, "model"), on("model", None)),
                "out_shardings": on("data"),
            },
        ),
        "scan": (
            scan,
            [array(8, 16), array(16, 16)],
            {"in_shardings": (on("data"), on()), "out_shardings": on("data")},
        ),
        "conv": (
            conv,
            [array(8, 3, 8, 8), array(4, 3, 3, 3)],
            {"in_shardings": (on("data"), on("model")), "out_shardings": on("data", "model")},
        ),
        "embedding": (
            embed,
            [array(32, 16), jnp.arange(24, dtype=jnp.int32).reshape(8, 3)],
            {
                "in_shardings": (on(None, "model"), on("data")),
                "out_shardings": on("data", None, "model"),
            },
        ),
        "attention": (
            attention,
            [array(4, 8, 2, 4)] * 3,
            {
                "in_shardings": on("data", None, "model"),
                "out_shardings": on("data", None, "model"),
            },
        ),
        "step": (
            step,
            [array(16, 8), array(16, 8), array(8, 16)],
            {
                "in_shardings": (on("model"), on("model"), on("data")),
                "out_shardings": (on("model"), on("model"), on()),
                "donate_argnums": (0, 1),
            },
        ),
        "replicated": (double, [array(8, 4)], {"in_shardings": on(), "out_shardings": on()}),
        "several_axes": (
            matmul,
            [array(16, 16), array(16, 8)],
            {
                "in_shardings": (on(("data", "model")), on(None, ("model", "data"))),
                "out_shardings": on(("model", "data")),
            },
        ),
        "three_axes": (
            matmul,
            [array(8, 16), array(16, 8)],
            {
                "in_shardings": (on("y", "x", mesh=cube), on("x", mesh=cube)),
                "out_shardings": on(("z", "x"), "y", mesh=cube),
            },
        ),
        "turned": (
            matmul,
            [array(8, 16), array(16, 8)],
            {
                "in_shardings": (on("d", mesh=turned), on(None, "m", mesh=turned)),
                "out_shardings": on("d", "m", mesh=turned),
            },
        ),
        "open_result": (
            matmul,
            [array(8, 16), array(16, 4)],
            {"in_shardings": (on("data"), on(None, "model"))},
        ),
        "branch": (
            branch,
            [array(8, 16), array(8, 16)],
            {"in_shardings": (on("data"), on("data")), "out_shardings": on("data")},
        ),
    }


def _lower() -> dict[str, Any]:
    """The text of each program in both dialects, and its inputs and results unsharded."""
    import jax
    import numpy as np

    found: dict[str, Any] = {}
    for name, (function, arguments, options) in _programs().items():
        texts = {}
        for dialect in ("shardy", "gspmd"):
            jax.config.update("jax_use_shardy_partitioner", dialect == "shardy")
            jax.clear_caches()
            texts[dialect] = jax.jit(function, **options).lower(*arguments).as_text()
        found[name] = {
            **texts,
            "inputs": [[np.asarray(each).tolist(), str(each.dtype)] for each in arguments],
            "results": [
                np.asarray(each).tolist() for each in jax.tree.leaves(function(*arguments))
            ],
        }
    return found


def _compile(module: str, shardy: bool) -> dict[str, Any]:
    """The shardings of parameters and results, and the alias table, of a compiled module."""
    import jax
    import numpy as np
    from jaxlib import xla_client
    from jaxlib._jax import DeviceList

    client = jax.devices("cpu")[0].client
    options = xla_client.CompileOptions()
    build = options.executable_build_options
    options.num_partitions = build.num_partitions = DEVICES
    options.num_replicas = build.num_replicas = 1
    build.use_spmd_partitioning = True
    build.use_shardy_partitioner = shardy
    build.allow_spmd_sharding_propagation_to_output = [True]
    build.device_assignment = xla_client.DeviceAssignment.create(np.arange(DEVICES)[None])
    devices = DeviceList(tuple(client.local_devices()))
    executable = client.compile_and_load(module.encode(), devices, options)
    header = executable.hlo_modules()[0].to_string().partition("\n")[0]

    computation = executable.hlo_modules()[0]
    shapes = xla_client.XlaComputation(computation.as_serialized_hlo_module_proto()).program_shape()

    def texts(shardings: Any, ranks: list[int]) -> list[Any]:
        found = [str(xla_client.HloSharding.from_proto(each)) for each in shardings]
        return list(zip(found, ranks, strict=True))

    result = shapes.result_shape()
    results = result.tuple_shapes() if result.is_tuple() else [result]
    ranks = [shape.rank() for shape in shapes.parameter_shapes()]
    return {
        "parameters": texts(executable.get_parameter_shardings(), ranks),
        "results": texts(executable.get_output_shardings(), [each.rank() for each in results]),
        "header": header,
        "argument_bytes": executable.get_compiled_memory_stats().argument_size_in_bytes,
        "result_bytes": executable.get_compiled_memory_stats().output_size_in_bytes,
    }


def _run(module: str, inputs: list[Any]) -> list[Any]:
    """The results of a module on one device."""
    import jax
    import jax.numpy as jnp
    import numpy as np
    from jaxlib import xla_client
    from jaxlib._jax import DeviceList

    client = jax.devices("cpu")[0].client
    devices = DeviceList(tuple(client.local_devices()[:1]))
    executable = client.compile_and_load(module.encode(), devices, xla_client.CompileOptions())
    arrays = [jnp.asarray(data, dtype) for data, dtype in inputs]
    results = executable.execute_sharded(arrays).disassemble_into_single_device_arrays()
    return [np.asarray(each[0]).tolist() for each in results]


def _main() -> None:
    import jax

    jax.config.update("jax_num_cpu_devices", DEVICES)
    jax.config.update("jax_platforms", "cpu")
    question = json.load(sys.stdin)
    answer: dict[str, Any] = {}
    if question["what"] == "lower":
        answer = _lower()
    for name, (module, shardy) in question.get("compile", {}).items():
        answer[name] = _compile(module, shardy)
    for name, (module, inputs) in question.get("run", {}).items():
        answer[name] = _run(module, inputs)
    print(json.dumps(answer))


if __name__ == "__main__":
    _main()
