"""What users hand over: modules, manifests and specs, in every form that is taken."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hlopass import manifest
from hlopass.diagnostics import Diagnostic, HlopassError
from hlopass.files import read_bytes, shown
from hlopass.manifest import Manifest

if TYPE_CHECKING:
    from hlopass.mesh_option import Mesh
    from hlopass.shardspec import BoundSpec, Spec

    Shard = Spec | BoundSpec | Mapping[str, Any] | str | Path

Donate = Manifest | Mapping[str, Any] | Sequence[int | str | Mapping[str, Any]] | str | Path
"""A manifest: read, as a path, or as plain data."""


def manifest_of(donate: Donate | None) -> tuple[Manifest, str]:
    """A manifest and what to call it; None is an empty one. Raises HlopassError."""
    if donate is None:
        return Manifest(), "manifest"
    if isinstance(donate, Manifest):
        return donate, "manifest"
    if isinstance(donate, (str, Path)):
        return manifest.load(donate), shown(donate)
    return manifest.from_data(donate), "manifest"


def bytes_of(source: Any, label: str | None) -> tuple[bytes, str]:
    """The source as bytes, and what to call it."""
    if isinstance(source, str) and ("\n" in source or "{" in source):
        return source.encode(), label or "<text>"
    if isinstance(source, (str, Path)):
        return read_bytes(source), label or shown(source)
    if isinstance(source, bytes):
        return source, label or "<bytes>"
    if hasattr(source, "mlir_module_serialized"):
        return bytes(source.mlir_module_serialized), label or f"<{source.fun_name}>"
    if hasattr(source, "compiler_ir"):
        source = source.compiler_ir(dialect="stablehlo")
    operation = getattr(source, "operation", None)
    if operation is None or not hasattr(operation, "write_bytecode"):
        message = f"cannot read a module from {type(source).__name__}"
        legal = "a path, text or bytes, an ir.Module, a Lowered or an Exported of jax"
        raise HlopassError(Diagnostic("source-type", message, help=f"legal: {legal}"))
    buffer = io.BytesIO()
    operation.write_bytecode(buffer)
    return buffer.getvalue(), label or "<module>"


def spec_of(shard: Shard, mesh: Mesh | None = None, devices: int | None = None) -> Spec | BoundSpec:
    """A spec, bound where that is possible: where axes stay open, as it is.

    Raises HlopassError for mistakes in it, and where the sizes do not fit it, or not those that
    it is bound to already.
    """
    from hlopass import shardspec

    if isinstance(shard, shardspec.BoundSpec):
        replace(shard.spec, mesh=shard.mesh.axes).bind(mesh, devices)
        return shard
    spec = load_spec(shard).given({} if mesh is None else mesh)
    if len(spec.open_axes) > (devices is not None):
        return spec
    return spec.bind(devices=devices)


def load_spec(spec: Spec | Mapping[str, Any] | str | Path) -> Spec:
    """A sharding spec from a file or from plain data; it is bound to a mesh by its `bind`.

    Raises HlopassError with every mistake in it.
    """
    from hlopass import shardspec

    if isinstance(spec, shardspec.Spec):
        return spec
    if isinstance(spec, (str, Path)):
        return shardspec.load(spec)
    return shardspec.from_data(spec)
