"""Shardings of a whole program, written in the other dialect."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import jaxlib.mlir.ir as ir

from hlopass import common_mesh, sdy_text, sharding_attrs, sharding_convert, sharding_ops
from hlopass.diagnostics import Diagnostic, quoted
from hlopass.layout import Mesh
from hlopass.program import GSPMD, MESH, PARTITIONS, REPLICAS, SHARDY, Program, meshes_of
from hlopass.sharded import Dialect
from hlopass.sharding_checks import LEGAL
from hlopass.sharding_convert import Read
from hlopass.sharding_ops import Site

_OTHER: dict[Dialect, Dialect] = {"shardy": "gspmd", "gspmd": "shardy"}
_MANUAL = "sdy.manual_computation"
_NAMES = {"shardy": "Shardy", "gspmd": "GSPMD"}


@dataclass(frozen=True)
class Found:
    """A place with shardings, read: those in the dialect that goes, and in the one that stays."""

    site: Site
    old: tuple[Read, ...]
    kept: tuple[Read, ...]


def read(program: Program, to: Dialect) -> list[Found]:
    """Every place of a program with a sharding."""
    meshes = meshes_of(program.module)
    found = []
    for site in sharding_ops.sites(program):
        edge = site.operation == program.entry
        shapes = site.shapes or ((),)
        shardy = tuple(
            sharding_convert.from_shardy(text, shape, meshes, edge)
            for text, shape in zip(site.shardy, shapes, strict=False)
        )
        if len(site.shardy) not in (0, len(shapes)):
            shardy = (Read(problem=f"it is not the sharding of {len(shapes)} values"),)
        both = {"shardy": shardy, "gspmd": _gspmd(site)}
        found.append(Found(site, both[_OTHER[to]], both[to]))
    return found


def _gspmd(site: Site) -> tuple[Read, ...]:
    if site.gspmd is None:
        return ()
    shapes = site.shapes or ((),)
    texts = sharding_convert.texts_of(site.gspmd, len(site.shapes))
    if texts is None:
        problem = f"it is not the sharding of {len(site.shapes)} values"
        return (Read(problem=problem),) * len(shapes)
    placed = site.kind == "operation"
    return tuple(
        sharding_convert.from_gspmd(text, len(shape or ()), site.unspecified, placed)
        for text, shape in zip(texts, shapes, strict=True)
    )


def problems(found: Iterable[Found], to: Dialect) -> list[Diagnostic]:
    """What keeps shardings from being written in a dialect, and what is lost in it."""
    errors: list[Diagnostic] = []
    lost: dict[str, list[Site]] = {}
    for each in found:
        site = each.site
        carries = f"{site.what} carries {_shown(site, _OTHER[to])}"
        errors += _unreadable(each, to)
        for reading in each.old:
            if reading.problem is not None:
                continue
            if reading.unsaid is not None:
                message = f"{carries}: {_NAMES[to]} has no word for {reading.unsaid}"
                errors.append(Diagnostic("sharding-no-counterpart", message, site.where))
            elif to == "shardy":
                errors += _uneven(each, reading)
            else:
                for loss in _lost(site, reading):
                    lost.setdefault(loss, []).append(site)
        if to == "shardy" and each.old and sharding_ops.is_within(site.operation, _MANUAL):
            message = f"{carries}, within {_MANUAL}: its devices are those of its free axes only"
            errors.append(Diagnostic("sharding-no-counterpart", message, site.where))
        if not _agree(each):
            message = f"{site.what} carries {_shown(site, 'shardy')} and"
            message += f" {_shown(site, 'gspmd')}, which differ"
            errors.append(Diagnostic("sharding-differs", message, site.where))
    return [*errors, *(_loss(what, sites) for what, sites in lost.items())]


def _unreadable(each: Found, to: Dialect) -> list[Diagnostic]:
    """Errors for what the compiler does not take, in either dialect, where something is to go."""
    site = each.site
    found = [(_OTHER[to], reading.problem) for reading in each.old]
    found += [(to, reading.problem) for reading in each.kept if each.old]
    messages = {
        f"{site.what} carries {_shown(site, dialect)}: {problem}": dialect
        for dialect, problem in found
        if problem is not None
    }
    return [
        Diagnostic("sharding-unreadable", message, site.where, help=f"legal: {LEGAL[dialect]}")
        for message, dialect in messages.items()
    ]


def _uneven(each: Found, reading: Read) -> list[Diagnostic]:
    """A warning where Shardy splits an argument or result over fewer devices than GSPMD."""
    site, tiles = each.site, reading.tiles
    shape = site.shapes[0] if site.shapes else None
    if site.kind not in ("argument", "result") or not shape or tiles is None:
        return []
    pairs = [(size, count) for size, count in zip(shape, tiles.tile, strict=True) if size > 0]
    if not any(size % count for size, count in pairs):
        return []
    message = f"{site.what} carries {_shown(site, 'gspmd')}, whose blocks GSPMD pads: Shardy"
    message += " splits it over fewer devices"
    return [Diagnostic("shard-uneven", message, site.where, "warning")]


def _shown(site: Site, dialect: Dialect) -> str:
    if dialect == "shardy":
        return f"{SHARDY} = {', '.join(site.shardy)}"
    return f"{GSPMD} = {quoted((site.gspmd or b'').decode(errors='backslashreplace'))}"


def _lost(site: Site, reading: Read) -> list[str]:
    is_open = reading.open and not reading.says_nothing and site.kind != "constraint"
    return [*sorted(reading.lost), *([sharding_convert.OPEN] if is_open else [])]


def _loss(what: str, sites: Sequence[Site]) -> Diagnostic:
    """One warning for all that loses something."""
    shown = ", ".join(site.what for site in sites[:3])
    more = f" and {len(sites) - 3} more" if len(sites) > 3 else ""
    becomes = "they are closed" if what == sharding_convert.OPEN else "they are left out"
    message = f"GSPMD cannot say {what}, and {becomes}: of {shown}{more}"
    return Diagnostic("sharding-lost", message, sites[0].where, "warning")


def _agree(each: Found) -> bool:
    """Whether what a place says in both dialects is the same."""
    pairs = [
        (old.tiles, kept.tiles)
        for old, kept in zip(each.old, each.kept, strict=False)
        if old.tiles is not None and kept.tiles is not None
    ]
    return all(old.same_as(kept) for old, kept in pairs)


def devices(program: Program, found: Sequence[Found]) -> int | Diagnostic:
    """The number of devices that all shardings are for, or what is wrong with it."""
    counts: dict[int, Site] = {}
    for each in found:
        for number in sharding_convert.devices((*each.old, *each.kept)):
            counts.setdefault(number, each.site)
    if program.partitions > 1 and counts and program.partitions not in counts:
        number, site = next(iter(counts.items()))
        message = f"{site.what} is sharded over {number} devices, and {PARTITIONS} is"
        return Diagnostic("sharding-devices", f"{message} {program.partitions}", site.where)
    if len(counts) > 1:
        shown = ", ".join(f"{site.what} over {number}" for number, site in counts.items())
        message = f"shardings name different numbers of devices: {shown}"
        return Diagnostic("sharding-devices", message, program.where)
    return next(iter(counts), program.partitions)


def mesh(
    program: Program, found: Sequence[Found], size: int, spec: Mesh | None
) -> Mesh | Diagnostic:
    """A mesh whose axes say every tiling: of the module, of a spec, or a new one."""
    tilings = [read.tiles for each in found for read in each.old if read.tiles is not None]
    used = sharding_attrs.dialects(program.module)
    known = [each for each in meshes_of(program.module).values() if not each.is_maximal]
    wanted = [*known, *([spec] if spec is not None else [])]
    mesh = common_mesh.find(tilings, size, wanted)
    if mesh is not None and ("shardy" not in used or mesh in known or not known):
        return mesh
    message = f"the axes of no one mesh of {size} devices say all shardings of the program"
    texts = dict.fromkeys(
        _shown(each.site, "gspmd") for each in found if any(map(_is_split, each.old))
    )
    notes = [f"it carries {', '.join([*texts][:4])}"]
    notes += [f"and has the mesh {known[0]}"] if known else []
    return Diagnostic("mesh-none", message, program.where, notes=tuple(notes))


def _is_split(reading: Read) -> bool:
    return reading.tiles is not None and not reading.tiles.is_replicated


def to_gspmd(program: Program, found: Sequence[Found]) -> None:
    """Writes what is Shardy's as GSPMD's; meshes go."""
    for each in found:
        if not each.old:
            continue
        text = sharding_convert.to_gspmd(each.old)
        with program.context:
            if each.site.kind == "constraint":
                _call(each.site, each.old[0])
            elif text is None:
                sharding_ops.set_shardings(each.site, None)
            else:
                sharding_ops.set_shardings(each.site, (GSPMD, ir.StringAttr.get(text)))
    for operation in reversed(sharding_ops.operations(program.module)):
        if sharding_ops.RULE in operation.attributes:
            del operation.attributes[sharding_ops.RULE]
        if operation.name == sharding_ops.CONSTANT:
            sharding_ops.plain_constant(operation)
        elif operation.name == MESH:
            operation.erase()


def rules(program: Program) -> list[Diagnostic]:
    """A warning where operations tell Shardy how they are partitioned, which GSPMD cannot."""
    ruled = [
        operation
        for operation in sharding_ops.operations(program.module)
        if sharding_ops.RULE in operation.attributes
    ]
    if not ruled:
        return []
    where, function = program.place(ruled[0])
    more = f" and {len(ruled) - 1} more" if len(ruled) > 1 else ""
    message = "GSPMD has no sharding rules, and they are left out: of"
    message += f" {sharding_ops.described(ruled[0])} in {function}{more}"
    return [Diagnostic("sharding-lost", message, where, "warning")]


def _call(site: Site, reading: Read) -> None:
    """Writes a constraint as JAX does for GSPMD."""
    assert reading.sharding is not None
    dims = ",".join(map(str, reading.open))
    config = f"unspecified_dims=[{dims}]" if dims else ""
    attributes: dict[str, ir.Attribute] = {
        "call_target_name": ir.StringAttr.get(sharding_ops.SHARDING_CALL),
        "backend_config": ir.StringAttr.get(config),
        GSPMD: ir.StringAttr.get(reading.sharding.to_gspmd()),
    }
    sharding_ops.constrain(site, "stablehlo.custom_call", attributes)


def to_shardy(program: Program, found: Sequence[Found], mesh: Mesh) -> None:
    """Writes what is GSPMD's as Shardy's, over a mesh; that and those of one device are added."""
    name, mesh = sharding_attrs.named_mesh(program, mesh)
    _add_maximal(program, found)
    for each in found:
        if not each.old:
            continue
        with program.context:
            texts = list(each.site.shardy) or [
                sharding_convert.to_shardy(reading, mesh, name) for reading in each.old
            ]
            if each.site.kind == "constraint":
                attribute = ir.Attribute.parse(texts[0])
                sharding_ops.constrain(
                    each.site, sharding_ops.CONSTRAINTS[0], {"sharding": attribute}
                )
                continue
            text = texts[0] if each.site.kind != "operation" else sdy_text.per_value(texts)
            sharding_ops.set_shardings(each.site, (SHARDY, ir.Attribute.parse(text)))


def _add_maximal(program: Program, found: Sequence[Found]) -> None:
    """Adds the meshes of one device that operations need."""
    known = meshes_of(program.module)
    tilings = (reading.tiles for each in found for reading in each.old)
    for device in sorted({t.blocks[0][0] for t in tilings if t and t.kind == "maximal"}):
        name = sharding_convert.maximal_name(device)
        if name not in known:
            sharding_attrs.add_mesh(program, name, Mesh((), (device,)))


def set_counts(program: Program, size: int) -> None:
    """Writes for how many devices the module is, where it does not say."""
    attributes = program.module.operation.attributes
    if program.partitions != size or PARTITIONS not in attributes:
        sharding_attrs.count(program.module, PARTITIONS, size)
    if REPLICAS not in attributes:
        sharding_attrs.count(program.module, REPLICAS, 1)
