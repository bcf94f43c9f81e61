"""What the passes share that add donations which nobody asked for."""

from __future__ import annotations

from hlopass import donation_attrs
from hlopass.dataflow import analyse
from hlopass.manifest import Automatic
from hlopass.passes._base import PassContext
from hlopass.planning import Planner
from hlopass.requests import Asked


def add(automatic: Automatic, context: PassContext) -> bool:
    """Adds the donations that `automatic` finds to those that the program carries."""
    program = context.program
    planner = Planner(program.arguments, program.results, automatic, lambda: analyse(program))
    plan = planner.run(Asked(), donation_attrs.read(program))
    context.diagnostics += plan.diagnostics
    context.donations[:] = plan.donations
    context.costs.update(plan.costs)
    added = [each for each in plan.donations if each.origin == automatic]
    return donation_attrs.write(program, added, ())
