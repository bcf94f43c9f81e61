"""How a program's arguments and results lie over devices, added to what is known of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from msgspec import structs

from hlopass.diagnostics import Diagnostic, UsageError
from hlopass.layout import Mesh
from hlopass.mesh_option import Mesh as Sizes
from hlopass.mesh_option import mesh_sizes
from hlopass.passes import check_sharding
from hlopass.placement import Placement, check_devices, differing_pairs, held, selected
from hlopass.program import Program, meshes_of
from hlopass.report import Inspected, Inspection, reported
from hlopass.values import Value


@dataclass(frozen=True)
class Asked:
    """What an inspection is asked of shardings.

    `axes`: the mesh of a spec, or one whose axes name GSPMD's tilings; `devices`: how many
    there are where the program does not say. `timeout` (seconds) and `progress` are for
    `propagate`. `pictures`: selectors of what to draw.
    """

    axes: Mesh | None = None
    devices: int | None = None
    propagate: bool = False
    pictures: Sequence[int | str] = ()
    timeout: float | None = None
    progress: Callable[[str], None] | None = None


def inspect(
    program: Program, inspection: Inspection, asked: Asked, found: Sequence[Diagnostic]
) -> Inspection:
    """An inspection with the layout of every argument and result, and what that takes.

    `found`: what is to be said of its shardings. Raises HlopassError where it is for another
    number of devices than is asked for, where a picture's name is unknown, and as
    `propagation.propagate` does.
    """
    warnings = [*program.warnings, *found]
    placement = Placement(
        program.argument_shardings,
        program.result_shardings,
        meshes_of(program.module),
        program.partitions,
        asked.axes,
        asked.axes.size if asked.devices is None and asked.axes is not None else asked.devices,
    )
    check_devices(placement, program.where)
    drawn = selected(asked.pictures, program.arguments, program.results)
    if asked.propagate:
        from hlopass import propagation

        placement, more = propagation.propagate(program, placement, asked.timeout, asked.progress)
        warnings += [*more, *differing_pairs(placement, _pairs(program, inspection))]
    arguments = _placed(inspection.arguments, program.arguments, placement)
    results = _placed(inspection.results, program.results, placement)
    return structs.replace(
        inspection,
        arguments=arguments,
        results=results,
        diagnostics=tuple(reported(each) for each in dict.fromkeys(warnings)),
        devices=placement.devices,
        meshes={name: mesh.sizes for name, mesh in placement.meshes.items()},
        per_device=held(arguments, results),
        propagates=asked.propagate,
        pictures=tuple(placement.picture(value) for value in drawn),
    )


def problems(program: Program) -> tuple[Diagnostic, ...]:
    """What XLA would ignore, change, refuse or die of, as warnings: it is shown all the same."""
    return tuple(each.as_warning() for each in check_sharding.check(program))


def axes(program: Program, mesh: Sizes | None, devices: int | None) -> Mesh | None:
    """The mesh that names GSPMD's tilings, of sizes that are given without a spec.

    Raises HlopassError for what is no mesh, UsageError where the program has meshes of its own.
    """
    if mesh is None:
        return None
    own = meshes_of(program.module)
    if own:
        shown = ", ".join(f"@{name} ({each})" for name, each in own.items())
        message = f"a mesh is given, and no spec to bind to it; the program has its own: {shown}"
        hint = "without a spec, a mesh names the axes of a program that has none"
        raise UsageError(Diagnostic("usage", message, help=hint))
    return named_mesh(mesh, devices)


def named_mesh(mesh: Sizes, devices: int | None) -> Mesh:
    """A mesh of sizes that are given without a spec. Raises HlopassError for what is none."""
    from hlopass import shardspec

    return shardspec.from_data({"mesh": mesh_sizes(mesh)}, "--mesh").bind(devices=devices).mesh


def _pairs(program: Program, inspection: Inspection) -> list[tuple[Value, Value]]:
    """The arguments that are donated to a result, with it."""
    return [
        (program.arguments[each.index], program.results[each.serves])
        for each in inspection.arguments
        if each.donated == "alias" and each.serves is not None
    ]


def _placed(
    described: Sequence[Inspected], values: Sequence[Value], placement: Placement
) -> tuple[Inspected, ...]:
    found = []
    for each, value in zip(described, values, strict=True):
        sharding = placement.of(value) if placement.closed else None
        text = None if sharding is None else sharding.text
        layout = placement.layout(value)
        found.append(structs.replace(each, propagated=text, layout=layout))
    return tuple(found)
