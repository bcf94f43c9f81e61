"""Every private jaxlib name, and what differs between jaxlib 0.8 and 0.10.

Nothing here imports `jax`. The MLIR half is imported by `rewrite`; the client half, which
loads the compiler, is imported inside the functions that need it.
"""

from __future__ import annotations

import functools
import re
from typing import Any

import jaxlib.mlir.ir as ir
from jaxlib.mlir._mlir_libs import _chlo, _jax_mlir_ext, _mlirHlo, _sdy, _stablehlo

_FILE_LOCATION = re.compile(r'^loc\("((?:[^"\\]|\\.)*)":(\d+):(\d+)')


def new_context() -> ir.Context:
    """An MLIR context with every dialect that frontends emit and jaxlib has.

    Operations of other dialects are kept as they are (`allow_unregistered_dialects`). The
    dialects are registered without their Python classes, whose import takes 20 ms.
    """
    context = ir.Context()
    registry = ir.DialectRegistry()
    _jax_mlir_ext.register_dialects(registry)
    context.append_dialect_registry(registry)
    for register in (
        _stablehlo.register_dialect,
        _sdy.register_dialect,
        _mlirHlo.register_mhlo_dialect,
        _chlo.register_dialect,
    ):
        register(context)
    context.load_all_available_dialects()
    context.allow_unregistered_dialects = True
    return context


def location_name(location: Any) -> str | None:
    """The name in a `NameLoc`, or None.

    jaxlib 0.10 has a class a kind of location; before there was one with `is_a_name()`.
    """
    kind = getattr(ir, "NameLoc", None)
    named = isinstance(location, kind) if kind is not None else location.is_a_name()
    return str(location.name_str) if named else None


def location_position(location: ir.Location) -> tuple[str, int, int] | None:
    """File, line and column of a location that is one, counting from 1, or None.

    Read from its text: jaxlib 0.8 to 0.10 agree on that, and on no accessor.
    """
    found = _FILE_LOCATION.match(str(location))
    if found is None:
        return None
    return found[1], int(found[2]), int(found[3])


def location_label(location: Any, parsed_from: str, label: str) -> str | None:
    """A location in words: `label:line:column`, or a name, or None where it is unknown.

    `parsed_from` is the file name of positions in the program's own text, `label` what to
    call it instead.
    """
    name = location_name(location)
    if name is not None:
        return f"'{name}'"
    position = location_position(location)
    if position is None:
        return None
    file, line, column = position
    return f"{label if file == parsed_from else file}:{line}:{column}"


def set_argument_name(argument: Any, name: str) -> None:
    """Names a block argument by its location; jaxlib 0.8 cannot, and is left alone."""
    if hasattr(argument, "set_location"):
        argument.set_location(ir.Location.name(name, context=argument.context))


@functools.cache
def jaxlib_version() -> str:
    """The installed version of jaxlib."""
    import jaxlib.version

    return str(jaxlib.version.__version__)


def hlo_module_text(module: Any) -> str:
    """The text of an HloModule of a compiled executable, header included."""
    return str(module.to_string())


def hlo_shardings(executable: Any) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """How an executable's parameters and results are split, in XLA's words; empty if not at all."""
    from jaxlib import xla_client

    def texts(found: Any) -> tuple[str, ...]:
        return tuple(str(xla_client.HloSharding.from_proto(each)) for each in found or ())

    return texts(executable.get_parameter_shardings()), texts(executable.get_output_shardings())


def vhlo_versions() -> tuple[str, str]:
    """The oldest and the newest version of portable artifacts that this jaxlib writes."""
    return _stablehlo.get_minimum_version(), _stablehlo.get_current_version()


def read_portable(context: ir.Context, data: bytes) -> ir.Module:
    """The module in a portable artifact; ValueError where it cannot be read."""
    return _stablehlo.deserialize_portable_artifact(context, data)


def write_portable(module: ir.Module, version: str, mixed: bool) -> bytes:
    """A module as a portable artifact; the module is changed by that.

    `mixed`: what VHLO has no words for goes in as it is. ValueError where it cannot be written.
    """
    return _stablehlo.serialize_portable_artifact(module, version, allow_other_dialects=mixed)


def hlo_from_text(text: str) -> bytes:
    """HLO text as a serialized HloModuleProto; RuntimeError where XLA does not read it."""
    return bytes(_hlo().hlo_module_from_text(text).as_serialized_hlo_module_proto())


def hlo_to_text(module: bytes) -> str:
    """A serialized HloModuleProto as HLO text; RuntimeError where XLA does not read it."""
    return hlo_module_text(_hlo().HloModule.from_serialized_hlo_module_proto(module))


def hlo_to_stablehlo(module: bytes) -> bytes:
    """A serialized HloModuleProto as bytecode; RuntimeError where XLA does not import it."""
    _hlo()
    from jaxlib import _jax

    return bytes(_jax.mlir.hlo_to_stablehlo(module))


def stablehlo_to_hlo(bytecode: bytes) -> tuple[bytes, str]:
    """A program as XLA exports it: as a serialized HloModuleProto, and as HLO text.

    RuntimeError where XLA does not export it.
    """
    _hlo()
    from jaxlib import _jax

    exported = _jax.mlir.mlir_module_to_xla_computation(bytecode, False, False)
    return exported.as_serialized_hlo_module_proto(), hlo_module_text(exported.get_hlo_module())


def _hlo() -> Any:
    """The bindings of HLO, which have a home of their own since jaxlib 0.10.2.

    They use numpy from C++, which must be there in truth by then and not deferred.
    """
    import numpy

    assert numpy.__version__
    try:
        from jaxlib import _hlo  # type: ignore[attr-defined]
    except ImportError:
        from jaxlib import xla_client

        return xla_client._xla
    return _hlo


def sharding_message(text: str) -> bytes:
    """A sharding in XLA's words as a serialized OpSharding; RuntimeError where it is none."""
    from jaxlib import xla_client

    return bytes(xla_client.HloSharding.from_string(text).to_proto().SerializeToString())


def kept_leaves(lowered: Any, count: int) -> list[int]:
    """Which of a call's leaves a `jax.stages.Lowered` takes, in order; JAX drops unread ones."""
    kept = lowered._lowering.compile_args.get("kept_var_idx")
    return list(range(count)) if kept is None else sorted(kept)


def registered_custom_calls() -> frozenset[str]:
    """The custom call targets that Python packages registered for the CPU.

    XLA knows some more by itself (TopK and such). Complete once `jax` is imported.
    """
    from jaxlib import xla_client

    return frozenset(xla_client.custom_call_targets("cpu"))


def initialize_lapack() -> None:
    """Looks up LAPACK's functions in scipy; calling one before that is a crash.

    JAX does so when it lowers a program, not when it loads one.
    """
    from jaxlib.cpu import _lapack  # type: ignore[attr-defined]

    _lapack.initialize()
