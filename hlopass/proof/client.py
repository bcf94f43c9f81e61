"""A PJRT client, compiling for it and running on it. The one place that makes any of them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

from hlopass.diagnostics import HlopassError
from hlopass.proof.refusal import refusal


def cpu_client(devices: int) -> Any:
    """A CPU client with that many devices.

    Importing jax registers the custom calls that jaxlib has for the CPU (LAPACK and such).
    """
    import jax

    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_enable_x64", True)
    jax.config.update("jax_num_cpu_devices", devices)
    return jax.devices("cpu")[0].client


@contextlib.contextmanager
def refused(verb: str, label: str, targets: Sequence[str] = ()) -> Iterator[None]:
    """Makes an HlopassError of what XLA raises inside."""
    from jaxlib import xla_client

    try:
        yield
    except xla_client.XlaRuntimeError as error:
        raise HlopassError(refusal(str(error), verb, label, targets)) from None


def compile_module(
    client: Any, bytecode: bytes, label: str, targets: Sequence[str] = ()
) -> Any:
    """Compiles a module for the client's first device; returns the loaded executable.

    `targets`: the module's custom call targets. Raises HlopassError where XLA refuses it.
    """
    from jaxlib import xla_client
    from jaxlib._jax import DeviceList

    options = xla_client.CompileOptions()
    devices = DeviceList(tuple(client.local_devices()[:1]))
    with refused("compile", label, unregistered(targets)):
        return client.compile_and_load(bytecode, devices, options)


def unregistered(targets: Sequence[str]) -> list[str]:
    """The custom call targets that no Python package registered for the CPU.

    XLA knows some more by itself (TopK and such).
    """
    from jaxlib import xla_client

    known = xla_client.custom_call_targets("cpu")
    return [target for target in targets if target not in known]


def run_executable(executable: Any, inputs: list[Any], label: str) -> list[Any]:
    """Runs on one device; returns the results, finished.

    Raises HlopassError where the run fails.
    """
    import jax

    with refused("run", label):
        results = executable.execute_sharded(inputs).disassemble_into_single_device_arrays()
        return list(jax.block_until_ready([shards[0] for shards in results]))
