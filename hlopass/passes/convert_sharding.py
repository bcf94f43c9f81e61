"""Writes the same shardings in the other dialect."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import jaxlib.mlir.ir as ir

from hlopass import sharding_ops, sharding_rewrite
from hlopass.diagnostics import Diagnostic
from hlopass.layout import Mesh
from hlopass.passes._base import Pass, PassContext
from hlopass.program import MESH


@dataclass(frozen=True)
class ConvertSharding(Pass):
    """Writes the same shardings in the other dialect, of the whole program.

    `to=shardy` finds a mesh whose axes say every tiling: one that the module, a spec or
    `--mesh` has, or a new one with axes `axis_0`, `axis_1` and so on. `to=gspmd` takes the
    meshes away; open dimensions are closed, but for those of constraints. What the other
    dialect cannot say is an error, and the program stays as it is.

    ```mlir
    sdy.mesh @mesh = <["data"=4, "model"=2]>
    func.func @main(%w: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>})
    // becomes, with to=gspmd; with to=shardy the other way round
    func.func @main(%w: tensor<8x8xf32>
      {mhlo.sharding = "{devices=[4,1,2]<=[8] last_tile_dim_replicate}"})
    ```
    """

    name: ClassVar[str] = "convert-sharding"
    to: Literal["shardy", "gspmd"] = "shardy"

    def run(self, module: ir.Module, context: PassContext) -> bool:
        program = context.program
        found = sharding_rewrite.read(program, self.to)
        operations = sharding_ops.operations(module)
        if _round_trip(context, operations):
            return False
        stuck = list(filter(self._is_stuck, operations))
        rest = self.to == "gspmd" and any(map(_is_shardys, operations))
        if not (stuck or rest or any(each.old for each in found)):
            return False
        before = len(context.diagnostics)
        why = f"has no counterpart in {'GSPMD' if self.to == 'gspmd' else 'Shardy'}"
        shown = sharding_ops.outermost(stuck)
        context.diagnostics += sharding_ops.findings(program, shown, "sharding-no-counterpart", why)
        refused = set(stuck)
        others = [each for each in found if each.site.operation not in refused]
        context.diagnostics += sharding_rewrite.problems(others, self.to)
        size = sharding_rewrite.devices(program, found)
        if isinstance(size, Diagnostic):
            context.emit(size)
        if isinstance(size, Diagnostic) or _failed(context, before):
            return False
        if self.to == "gspmd":
            context.diagnostics += sharding_rewrite.rules(program)
            sharding_rewrite.to_gspmd(program, found)
        else:
            wanted = context.mesh if context.shard is None else context.shard.mesh
            mesh = sharding_rewrite.mesh(program, found, size, wanted)
            if isinstance(mesh, Diagnostic):
                context.emit(mesh)
                return False
            if wanted is not None and wanted != mesh:
                context.emit(_other_axes(context, wanted, mesh))
            sharding_rewrite.to_shardy(program, found, mesh)
        sharding_rewrite.set_counts(program, size)
        program.read_values()
        return True

    def _is_stuck(self, operation: ir.Operation) -> bool:
        """Whether only the dialect that goes has such an operation."""
        if self.to == "gspmd":
            known = (*sharding_ops.CONSTRAINTS, sharding_ops.CONSTANT, MESH)
            return operation.name.startswith("sdy.") and operation.name not in known
        return sharding_ops.call_target(operation) in sharding_ops.PER_DEVICE_CALLS


def _other_axes(context: PassContext, wanted: Mesh, mesh: Mesh) -> Diagnostic:
    message = f"the axes of mesh {wanted} are not used: mesh {mesh} is"
    note = "not every sharding of the program can be said over them, or the program has a mesh"
    where = context.program.where
    return Diagnostic("mesh-other", message, where, "warning", notes=(note,))


def _round_trip(context: PassContext, operations: list[ir.Operation]) -> bool:
    """Whether the program is in the form of Shardy's that only XLA reads, with findings."""
    kept = list(filter(sharding_ops.in_round_trip_form, operations))
    why = "has shardings in the form that Shardy keeps between compilations (xla.sdy.*)"
    hint = "convert the program as it was before; strip-sharding removes them"
    code = "sharding-round-trip"
    context.diagnostics += sharding_ops.findings(context.program, kept, code, why, hint)
    return bool(kept)


def _is_shardys(operation: ir.Operation) -> bool:
    """Whether an operation is of Shardy's dialect, or says how Shardy partitions it."""
    return operation.name.startswith("sdy.") or sharding_ops.RULE in operation.attributes


def _failed(context: PassContext, before: int) -> bool:
    return any(each.severity == "error" for each in context.diagnostics[before:])
