"""A PJRT client, compiling for it and running on it. The one place that makes any of them."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from hlopass.diagnostics import Diagnostic, HlopassError, quoted
from hlopass.jaxlib_compat import registered_custom_calls
from hlopass.proof.refusal import refusal

if TYPE_CHECKING:
    from hlopass.proof.partition import Partitioning

Targets = Callable[[], Sequence[str]]


def client_of(platform: str, devices: int) -> Any:
    """The client of a platform (`cpu`, `cuda`, `tpu` and others that JAX finds installed).

    The CPU is divided into that many devices. Settings that tests in the same process rely on
    are left alone. Raises HlopassError where the platform is not there or has too few devices.

    Importing jax registers the custom calls that jaxlib has for the CPU (LAPACK and such).
    """
    import jax

    if platform == "cpu":
        jax.config.update("jax_platforms", "cpu")
        if devices > 1:
            jax.config.update("jax_num_cpu_devices", devices)
    try:
        found = jax.local_devices(backend=platform)
    except (RuntimeError, AssertionError) as error:  # what jax raises for cuda without it
        message = f"there is no platform {quoted(platform)} here"
        said = str(error).splitlines()[:1]
        hint = "legal: cpu, and those whose plugin for JAX is installed"
        raise HlopassError(
            Diagnostic("platform-unknown", message, notes=tuple(said), help=hint)
        ) from None
    if len(found) < devices:
        message = f"platform {quoted(platform)} has {len(found)} devices here, not {devices}"
        raise HlopassError(Diagnostic("platform-devices", message))
    return found[0].client


@contextlib.contextmanager
def refused(verb: str, label: str, targets: Targets = tuple) -> Iterator[None]:
    """Makes an HlopassError of what XLA raises inside; `targets` as for `compile_module`."""
    from jaxlib import xla_client

    try:
        yield
    except xla_client.XlaRuntimeError as error:
        known = registered_custom_calls()
        missing = [target for target in targets() if target not in known]
        raise HlopassError(refusal(str(error), verb, label, missing)) from None


def compile_module(
    client: Any,
    bytecode: bytes,
    label: str,
    targets: Targets = tuple,
    partitioning: Partitioning | None = None,
) -> Any:
    """Compiles a module for the client's first device, or the first few; the loaded executable.

    `targets` gives the module's custom call targets, should XLA lack one. Raises
    HlopassError where XLA refuses the module.
    """
    from jaxlib import xla_client
    from jaxlib._jax import DeviceList

    options = xla_client.CompileOptions()
    count = 1
    if partitioning is not None:
        count = partitioning.devices
        _partition(options, partitioning)
    devices = DeviceList(tuple(client.local_devices()[:count]))
    with refused("compile", label, targets):
        return client.compile_and_load(bytecode, devices, options)


def _partition(options: Any, asked: Partitioning) -> None:
    """Has a program split over devices, with the options that `jax.jit` gives."""
    from jaxlib import xla_client

    build = options.executable_build_options
    options.num_replicas = build.num_replicas = 1
    options.num_partitions = build.num_partitions = asked.devices
    build.use_spmd_partitioning = True
    build.use_shardy_partitioner = asked.shardy
    build.allow_spmd_sharding_propagation_to_parameters = list(asked.open_arguments)
    build.allow_spmd_sharding_propagation_to_output = list(asked.open_results)
    order = np.arange(asked.devices).reshape(1, asked.devices)
    build.device_assignment = xla_client.DeviceAssignment.create(order)


def parameter_layouts(executable: Any) -> list[tuple[int, ...]] | None:
    """The dimensions of each parameter from major to minor, as the compiled program reads it.

    None where XLA does not tell, as with tokens among them.
    """
    return _orders(executable.get_parameter_layouts)


def result_layouts(executable: Any) -> list[tuple[int, ...]] | None:
    """The dimensions of each result, as `parameter_layouts`."""
    return _orders(executable.get_output_layouts)


def _orders(layouts: Callable[[], Any]) -> list[tuple[int, ...]] | None:
    from jax.experimental.layout import Layout
    from jaxlib import xla_client

    try:
        return [tuple(Layout.from_pjrt_layout(each).major_to_minor) for each in layouts()]
    except xla_client.XlaRuntimeError:
        return None


def run_executable(executable: Any, inputs: list[Any], label: str) -> list[Any]:
    """Runs on one device; returns the results, finished.

    Raises HlopassError where the run fails.
    """
    return [shards[0] for shards in run_sharded(executable, inputs, label)]


def run_sharded(executable: Any, inputs: list[Any], label: str) -> list[list[Any]]:
    """Runs on all its devices; returns for each result what each device holds, finished.

    Raises HlopassError where the run fails.
    """
    import jax

    with refused("run", label):
        results = executable.execute_sharded(inputs).disassemble_into_single_device_arrays()
        return [list(shards) for shards in jax.block_until_ready(results)]


def fetch(shards: Sequence[Any], label: str) -> list[np.ndarray[Any, Any]]:
    """What devices hold, on the host; a token, which has no data, as an array without elements.

    Raises HlopassError where one cannot be read.
    """
    with refused("read the results of", label):
        return [
            np.asarray(each) if each.size else np.zeros(each.shape, each.dtype) for each in shards
        ]
