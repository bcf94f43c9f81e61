"""A loaded module: its entry function, and its arguments and results by index and name.

The names of attributes stand here, once. Everything that asks what an argument is (its
name, its bytes, whether a buffer of its type can be reused) asks this file.
"""

from __future__ import annotations

import contextlib
import re
from typing import TYPE_CHECKING

import jaxlib.mlir.ir as ir

from hlopass import naming
from hlopass.buffers import BufferLayout, layout_of
from hlopass.diagnostics import Diagnostic, Where, quoted
from hlopass.entry import name_of, select_entry
from hlopass.jaxlib_compat import location_position, set_argument_name
from hlopass.loaded import Loaded, Source
from hlopass.values import Role, Value

if TYPE_CHECKING:
    from hlopass.layout import Mesh
    from hlopass.sharded import Sharded

ALIAS = "tf.aliasing_output"
DONOR = "jax.buffer_donor"
MODULE_ALIAS = "mhlo.input_output_alias"
MODULE_DONOR = "mhlo.buffer_donor"
PARTITIONS = "mhlo.num_partitions"
REPLICAS = "mhlo.num_replicas"
MEMORY_KIND = "mhlo.memory_kind"
GLOBAL_CONSTANT = "jax.global_constant"
TOKEN = "jax.token"
SHARDY = "sdy.sharding"
GSPMD = "mhlo.sharding"
SHARDINGS = (SHARDY, GSPMD)
MESH = "sdy.mesh"
FRONTEND = "mhlo.frontend_attributes"
ARG_ATTRS = "arg_attrs"
RESULT_ATTRS = "res_attrs"

PARSED_FROM = "-"
"""The file name that MLIR's parser gives to positions in a text that has no file."""

_NUMBERED = re.compile(r"(?:arg)?\d+$")
_SSA_NAME = re.compile(r"%([\w$.-]+)")


class Program(Loaded):
    """A module with the function that XLA will run.

    Raises HlopassError where there is no such function (see `entry.select_entry`).
    """

    def __init__(self, module: ir.Module, source: Source, entry: str | None = None) -> None:
        super().__init__(module, source)
        self.warnings: list[Diagnostic] = []
        where = Where(source.label)
        self.entry = select_entry(module, entry, where, self.warnings.append)
        self.where = self.where_of(self.entry)
        self._layouts: dict[ir.Type, BufferLayout] = {}
        self._attributes: tuple[ir.Attribute, list[dict[str, ir.Attribute]]] | None = None
        self.read_values()

    def read_values(self) -> None:
        """Reads arguments and results, and how they are sharded, as the entry now has them."""
        signature = ir.FunctionType(ir.TypeAttr(self.entry.attributes["function_type"]).value)
        arguments = self.entry.regions[0].blocks[0].arguments
        self._count = len(arguments)
        attributes = self.argument_attributes()
        self.arguments = tuple(
            self._argument(index, argument, attributes[index])
            for index, argument in enumerate(arguments)
        )
        result_attributes = attribute_dicts(self.entry, RESULT_ATTRS, len(signature.results))
        types = zip(signature.results, result_attributes, strict=True)
        self.results = tuple(
            self._value("result", index, naming.name_of("result", attrs), type_, attrs, self.where)
            for index, (type_, attrs) in enumerate(types)
        )
        self._read_shardings(attributes, result_attributes)

    def _read_shardings(
        self, arguments: list[dict[str, ir.Attribute]], results: list[dict[str, ir.Attribute]]
    ) -> None:
        """Reads what says how arguments and results are split; most programs have nothing."""
        self.meshes: dict[str, Mesh] = {}
        self.argument_shardings: dict[int, Sharded] = {}
        self.result_shardings: dict[int, Sharded] = {}
        self.partitions = count_of(self.module, PARTITIONS)
        self.is_sharded = self.partitions > 1
        if any(name in attrs for attrs in (*arguments, *results) for name in SHARDINGS):
            self.meshes = meshes_of(self.module)
            self.argument_shardings = self._shardings(self.arguments, arguments)
            self.result_shardings = self._shardings(self.results, results)
            written = (*self.argument_shardings.values(), *self.result_shardings.values())
            self.is_sharded |= any(not each.is_replicated or each.open for each in written)
        if self.is_sharded:
            from hlopass.sharded import with_shards

            self.arguments = with_shards(self.arguments, self.argument_shardings)
            self.results = with_shards(self.results, self.result_shardings)

    def _shardings(
        self, values: tuple[Value, ...], attributes: list[dict[str, ir.Attribute]]
    ) -> dict[int, Sharded]:
        from hlopass import sharded

        found = {}
        for value, attrs in zip(values, attributes, strict=True):
            if SHARDY in attrs:
                found[value.index] = sharded.shardy(str(attrs[SHARDY]), value, self.meshes)
            elif GSPMD in attrs:
                attr = attrs[GSPMD]
                written = (
                    attr.value_bytes if isinstance(attr, ir.StringAttr) else str(attr).encode()
                )
                found[value.index] = sharded.gspmd(written, value)
        return found

    @property
    def entry_name(self) -> str:
        """The name of the entry function, as it is now."""
        return name_of(self.entry)

    def argument_attributes(self) -> list[dict[str, ir.Attribute]]:
        """The attributes of each argument of the entry, as they are now; not to be changed."""
        if ARG_ATTRS not in self.entry.attributes:
            return [{} for _ in range(self._count)]
        attr = self.entry.attributes[ARG_ATTRS]
        if self._attributes is None or self._attributes[0] != attr:
            self._attributes = attr, attribute_dicts(self.entry, ARG_ATTRS, self._count)
        return self._attributes[1]

    def set_argument_attributes(self, changes: dict[int, dict[str, ir.Attribute]]) -> None:
        """Gives some arguments of the entry, by index, other attributes."""
        set_attribute_dicts(self.entry, ARG_ATTRS, self._count, changes)

    def where_of(self, function: ir.Operation) -> Where:
        """The place of a function in the source; without a line where that is not known."""
        position = self._position(function.location)
        if position is not None:
            return Where(self.source.label, *position)
        text = self.source.text or ""
        name = re.escape(name_of(function))
        found = re.search(rf'^ *"?func\.func\b.*@"?{name}\b', text, re.MULTILINE)
        line = None if found is None else text.count("\n", 0, found.start()) + 1
        return Where(self.source.label, line)

    def place(self, operation: ir.Operation) -> tuple[Where, str]:
        """Where an operation stands in the source, and its function in words."""
        function = operation
        while function.name != "func.func" and function.parent is not None:
            function = function.parent.operation
        if function.name != "func.func":
            return Where(self.source.label), "the module"
        position = self._position(operation.location)
        where = self.where_of(function) if position is None else Where(self.source.label, *position)
        return where, f"function {quoted(name_of(function))}"

    def _argument(
        self, index: int, argument: ir.Value[ir.Type], attrs: dict[str, ir.Attribute]
    ) -> Value:
        where, location = self.where, argument.location
        position = self._position(location)
        if position is not None:
            where = Where(self.source.label, *position)
        name = naming.name_of("argument", attrs, location, lambda: self._written_name(position))
        if name.by == naming.SSA and name.text is not None:
            set_argument_name(argument, name.text)
        return self._value("argument", index, name, argument.type, attrs, where)

    def _value(
        self,
        role: Role,
        index: int,
        name: naming.Name,
        type_: ir.Type,
        attrs: dict[str, ir.Attribute],
        where: Where,
    ) -> Value:
        layout = self._layouts.get(type_)
        if layout is None:
            layout = self._layouts[type_] = layout_of(type_)
        return Value(
            role=role,
            index=index,
            name=name.text,
            named_by=name.by,
            type=layout.type,
            bytes=layout.bytes,
            shape=layout.shape,
            obstacle=layout.obstacle,
            internal=_internal(attrs) if attrs else None,
            memory_kind=string_attr(attrs, MEMORY_KIND) if attrs else None,
            where=where,
        )

    def _written_name(self, position: tuple[int, int] | None) -> str | None:
        """The SSA name at a place in the text (`%cache_k`), unless it is only a number."""
        if position is None:
            return None
        line, column = position
        found = _SSA_NAME.match(self.source.line(line), column - 1)
        return None if found is None or _NUMBERED.match(found[1]) else found[1]

    def _position(self, location: ir.Location) -> tuple[int, int] | None:
        """Line and column in this program's own text, where the parser left them."""
        position = location_position(location)
        if position is None or position[0] != PARSED_FROM or self.source.text is None:
            return None
        return position[1], position[2]


def meshes_of(module: ir.Module) -> dict[str, Mesh]:
    """The meshes of a module that can be read, by name."""
    from hlopass.layout import Mesh

    found = {}
    for view in module.body.operations:
        operation = view.operation
        if operation.name == MESH:
            with contextlib.suppress(ValueError):
                mesh = Mesh.from_sdy(str(operation.attributes["mesh"]))
                if mesh is not None:
                    found[ir.StringAttr(operation.attributes["sym_name"]).value] = mesh
    return found


def count_of(module: ir.Module, name: str) -> int:
    """An integer attribute of the module; 1 where it has none."""
    attributes = module.operation.attributes
    if name in attributes and isinstance(attributes[name], ir.IntegerAttr):
        return int(ir.IntegerAttr(attributes[name]).value)
    return 1


def attribute_dicts(function: ir.Operation, name: str, count: int) -> list[dict[str, ir.Attribute]]:
    """The attributes of each argument (ARG_ATTRS) or result (RESULT_ATTRS) of a function."""
    if name not in function.attributes:
        return [{} for _ in range(count)]
    dicts = ir.ArrayAttr(function.attributes[name])
    return [_entries(ir.DictAttr(attrs)) for attrs in dicts]


def _entries(attrs: ir.DictAttr) -> dict[str, ir.Attribute]:
    named = (attrs[at] for at in range(len(attrs)))
    return {item.name: item.attr for item in named}


def set_attribute_dicts(
    function: ir.Operation, name: str, count: int, changes: dict[int, dict[str, ir.Attribute]]
) -> None:
    """Writes what `attribute_dicts` reads; where nothing is left, the attribute goes too."""
    with function.context:
        values: list[ir.Attribute] = [ir.DictAttr.get({})] * count
        if name in function.attributes:
            values = [*ir.ArrayAttr(function.attributes[name])]
        for index, attrs in changes.items():
            values[index] = ir.DictAttr.get(attrs)
        if any(len(ir.DictAttr(value)) for value in values):
            function.attributes[name] = ir.ArrayAttr.get(values)
        elif name in function.attributes:
            del function.attributes[name]


def string_attr(attrs: dict[str, ir.Attribute], name: str) -> str | None:
    """The text of a string attribute; None where it is missing, empty or no string."""
    attr = attrs.get(name)
    if not isinstance(attr, ir.StringAttr):
        return None
    return attr.value_bytes.decode(errors="backslashreplace") or None


def _internal(attrs: dict[str, ir.Attribute]) -> str | None:
    """What the frontend added for itself, read off JAX's attributes."""
    if GLOBAL_CONSTANT in attrs:
        name = string_attr(attrs, GLOBAL_CONSTANT)
        return f"a constant of the frontend{'' if name is None else f', {quoted(name)}'}"
    if TOKEN in attrs:
        return "a token that orders side effects"
    return None
