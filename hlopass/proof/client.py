"""A PJRT client, and compiling for it. The one place that makes either."""

from __future__ import annotations

from typing import Any

from hlopass.diagnostics import Diagnostic, HlopassError, Where


def cpu_client(devices: int) -> Any:
    """A CPU client with that many devices.

    Importing jax registers the custom calls that jaxlib has for the CPU (LAPACK and such).
    """
    import jax

    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_enable_x64", True)
    jax.config.update("jax_num_cpu_devices", devices)
    return jax.devices("cpu")[0].client


def compile_module(client: Any, bytecode: bytes, label: str) -> Any:
    """Compiles a module for the client's first device; returns the loaded executable.

    Raises HlopassError where XLA refuses it.
    """
    from jaxlib import xla_client
    from jaxlib._jax import DeviceList

    options = xla_client.CompileOptions()
    devices = DeviceList(tuple(client.local_devices()[:1]))
    try:
        return client.compile_and_load(bytecode, devices, options)
    except xla_client.XlaRuntimeError as error:
        raise HlopassError(_refused(str(error), "compile", label)) from None


def run_executable(executable: Any, inputs: list[Any], label: str) -> list[Any]:
    """Runs on one device; returns the results, finished.

    Raises HlopassError where the run fails.
    """
    import jax
    from jaxlib import xla_client

    try:
        results = executable.execute_sharded(inputs).disassemble_into_single_device_arrays()
        return list(jax.block_until_ready([shards[0] for shards in results]))
    except xla_client.XlaRuntimeError as error:
        raise HlopassError(_refused(str(error), "run", label)) from None


def _refused(text: str, verb: str, label: str) -> Diagnostic:
    """XLA's own first sentence, without its stack trace."""
    status, _, rest = text.partition(": ")
    lines = [line.strip() for line in (rest if status.isupper() else text).splitlines()]
    sentence = next((line for line in lines if line), "no reason given")
    sentence = sentence.removeprefix("-:").strip()
    code = "out-of-memory" if status == "RESOURCE_EXHAUSTED" else f"{verb}-failed"
    message = f"XLA cannot {verb} the program: {sentence[:300].rstrip('.')}"
    return Diagnostic(code, message, Where(label))
