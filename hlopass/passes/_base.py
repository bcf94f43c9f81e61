"""What a pass is, and what it is given."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

import jaxlib.mlir.ir as ir

from hlopass.diagnostics import Diagnostic
from hlopass.donation import Donation
from hlopass.manifest import Manifest
from hlopass.program import Program
from hlopass.reuse import Conflict

if TYPE_CHECKING:
    from hlopass.layout import Mesh
    from hlopass.sharding_plan import Existing
    from hlopass.shardspec import BoundSpec


@dataclass
class PassContext:
    """What a pass may know, and where it puts what it finds.

    Passes collect diagnostics instead of raising them, so that all mistakes are seen at
    once; the pipeline stops after a pass that found errors. `shard` is a spec on a mesh,
    `mesh` one whose axes are to be used where there is no spec, `existing` what becomes of
    shardings that the program has and the spec does not want.
    """

    program: Program
    manifest: Manifest = Manifest()
    manifest_label: str = "manifest"
    shard: BoundSpec | None = None
    mesh: Mesh | None = None
    existing: Existing = "error"
    diagnostics: list[Diagnostic] = field(default_factory=list)
    donations: list[Donation] = field(default_factory=list)
    costs: dict[int, Conflict] = field(default_factory=dict)

    def emit(self, diagnostic: Diagnostic) -> None:
        """Notes a finding."""
        self.diagnostics.append(diagnostic)


@dataclass(frozen=True)
class Pass:
    """A rewriting of a module: a frozen dataclass whose fields are its options.

    The first paragraph of the docstring says what it does; the rest shows a module before
    and after. `name` is its spelling in pipelines, `changes` whether it can change a module.
    """

    name: ClassVar[str]
    verifies: ClassVar[bool] = True

    def run(self, module: ir.Module, context: PassContext) -> bool:
        """Rewrites the module in place; returns whether anything changed."""
        raise NotImplementedError
