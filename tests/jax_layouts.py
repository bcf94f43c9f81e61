"""What JAX and XLA say of shardings: a child process with many CPU devices that answers in JSON.

It is a process of its own, since the number of devices is fixed when jax first runs, and since
a sharding that XLA cannot read may end it.
"""

from __future__ import annotations

import base64
import inspect
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

DEVICES = 24


class Oracle:
    """The child, and questions to it."""

    def __init__(self, child: subprocess.Popen[str]) -> None:
        self.child = child

    def ask(self, **question: Any) -> Any:
        """The answer, a JSON value; raises RuntimeError with what went wrong in the child."""
        assert self.child.stdin is not None and self.child.stdout is not None
        self.child.stdin.write(json.dumps(question) + "\n")
        self.child.stdin.flush()
        line = self.child.stdout.readline()
        answer = json.loads(line) if line else {"error": "the child died"}
        if "error" in answer:
            raise RuntimeError(answer["error"])
        return answer["answer"]

    def named(self, axes: Any, dims: Any, ids: Any = None, shape: Any = None) -> Any:
        """What a NamedSharding is: its HLO and sdy text, proto, and on a shape its shards."""
        return self.ask(what="named", axes=axes, dims=dims, ids=ids, shape=shape)

    def hlo(self, text: str) -> Any:
        """What XLA reads in an `mhlo.sharding`; None where it does not."""
        return self.ask(what="hlo", text=text)

    def sdy(self, text: str) -> str:
        """An attribute as MLIR parses and prints it."""
        return str(self.ask(what="sdy", text=text))

    def even(self, mesh: str, sharding: str, shape: Any) -> str:
        """The sharding that Shardy gives an argument of this shape in place of one."""
        return str(self.ask(what="even", mesh=mesh, sharding=sharding, shape=shape))


@contextmanager
def oracle() -> Iterator[Oracle]:
    """Starts the child and ends it."""
    with subprocess.Popen(
        [sys.executable, __file__],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as child:
        found = Oracle(child)
        yield found
        assert child.stdin is not None
        child.stdin.close()


def _answer(question: dict[str, Any]) -> Any:
    answers: dict[str, Callable[..., Any]] = {
        "named": _named,
        "hlo": _hlo,
        "sdy": _sdy,
        "even": _even,
    }
    return answers[question.pop("what")](**question)


def _named(axes: Any, dims: Any, ids: Any, shape: Any) -> Any:
    import jax
    import numpy as np
    from jax._src.interpreters import mlir
    from jax.sharding import AbstractMesh, Mesh, NamedSharding, PartitionSpec

    names, sizes = tuple(name for name, _ in axes), tuple(size for _, size in axes)
    spec = [PartitionSpec.UNCONSTRAINED if dim == "?" else tuple(dim) for dim in dims]
    count = int(np.prod(sizes, dtype=int))
    concrete = count <= DEVICES
    mesh = AbstractMesh(sizes, names)
    if concrete:
        mesh = Mesh(np.array(jax.devices()[:count]).reshape(sizes), names)
    extra = {} if ids is None else {"_logical_device_ids": tuple(ids)}
    sharding = NamedSharding(mesh, PartitionSpec(*spec), **extra)
    hlo = sharding._to_xla_hlo_sharding(len(dims))
    with mlir.make_ir_context():
        written = sharding._to_sdy_sharding(len(dims))
        cached = "attr_cache" in inspect.signature(written.build).parameters
        sdy = str(written.build(*[{}] * cached))
    found: dict[str, Any] = {"hlo": str(hlo), "sdy": sdy, "version": jax.__version_info__}
    found["proto"] = base64.b64encode(hlo.to_proto().SerializeToString()).decode()
    if shape is not None:
        found["shard_shape"] = list(sharding.shard_shape(tuple(shape)))
    if shape is not None and concrete and ids is None:
        indices = sharding.devices_indices_map(tuple(shape)).items()
        found["indices"] = [
            [part.indices(size)[:2] for part, size in zip(parts, shape, strict=True)]
            for _, parts in sorted(indices, key=lambda item: item[0].id)
        ]
    return found


def _hlo(text: str) -> Any:
    from jax._src.lib import xla_client

    try:
        found = xla_client.HloSharding.from_string(text)
    except Exception:
        return None
    tiled = found.is_tiled()
    return {
        "text": str(found),
        "replicated": found.is_replicated(),
        "tile": list(found.tile_assignment_dimensions()) if tiled else None,
        "devices": list(found.tile_assignment_devices()) if tiled else None,
    }


def _sdy(text: str) -> str:
    from jax._src.interpreters import mlir
    from jax._src.lib.mlir import ir

    with mlir.make_ir_context() as context:
        return str(ir.Attribute.parse(text, context))


def _even(mesh: str, sharding: str, shape: list[int]) -> str:
    from jax._src.interpreters import mlir
    from jax._src.lib.mlir import ir, passmanager

    tensor = f"tensor<{'x'.join([*map(str, shape), 'f32'])}>"
    text = f"""sdy.mesh @mesh = {mesh.removeprefix("#sdy.mesh")}
        func.func @main(%a: {tensor} {{sdy.sharding = {sharding}}}) {{ return }}"""
    with mlir.make_ir_context() as context:
        module = ir.Module.parse(text)
        passes = "sdy-remove-size-one-axes,sdy-update-non-divisible-input-output-shardings"
        pipeline = f"builtin.module({passes})"
        passmanager.PassManager.parse(pipeline, context).run(module.operation)
        function = module.body.operations[1].operation
        return str(function.attributes["arg_attrs"][0]["sdy.sharding"])


def _main() -> None:
    import jax

    jax.config.update("jax_num_cpu_devices", DEVICES)
    jax.config.update("jax_platforms", "cpu")
    for line in sys.stdin:
        try:
            found = {"answer": _answer(json.loads(line))}
        except Exception as error:
            found = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(found), flush=True)


if __name__ == "__main__":
    _main()
