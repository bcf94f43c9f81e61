"""A program's graph for pairing: who reads and writes what, in which order."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import jaxlib.mlir.ir as ir

from hlopass.entry import functions_of
from hlopass.flow import Effect, Graph, Node
from hlopass.fusion import FUSED
from hlopass.jaxlib_compat import location_label
from hlopass.operations import ANNOTATIONS, EFFECTFUL, EFFECTS, EQUAL_BY_OPERANDS, REDUCING
from hlopass.program import PARSED_FROM, Program
from hlopass.reuse import Reuse

_MOST_NODES = 2_000_000
"""Where writing out calls would make a graph larger than this, they stay single nodes."""

_MOST_CALLS = 100_000
"""So many calls are written out; later ones stay single nodes."""

_DIALECTS = frozenset({"stablehlo", "mhlo", "chlo", "func", "sdy"})
"""Whose operations are what their names say."""

Values = dict[Any, Any]
"""What each MLIR value is in the graph: a number, or a tuple of them for a tuple."""


def graph_of(program: Program) -> Graph:
    """The graph of a program's entry, calls and branches written out.

    A function of several blocks, or with operations that are not what their names say, is
    one OPAQUE node: nothing is known of it.
    """
    try:
        return _Builder(program).build()
    except (LookupError, ValueError, TypeError, RecursionError):
        return _unknown(program)


def _unknown(program: Program) -> Graph:
    """A graph that says only that all results depend on all arguments."""
    graph = Graph(len(program.arguments))
    count = len(program.results)
    first = graph.add("the function", Effect.OPAQUE, tuple(range(graph.arguments)), max(count, 1))
    graph.results = list(range(first, first + count))
    return graph


def analyse(program: Program) -> Reuse:
    """Which results of a program can be written over which arguments."""
    return Reuse(
        graph_of(program),
        [argument.type for argument in program.arguments],
        [result.type for result in program.results],
    )


class _Kind(NamedTuple):
    """How operations of one name are added; neither effect nor handler for a terminator.

    `equal`: two of them are one where their operands are the same.
    """

    name: str
    effect: Effect | None
    handle: Callable[[_Builder, str, ir.Operation, Values], None] | None
    equal: bool


class _Builder:
    def __init__(self, program: Program) -> None:
        self.program = program
        self.functions = functions_of(program.module)
        self.graph = Graph(len(program.arguments), place=self._place)
        self.operations: list[ir.Operation] = []
        self.kinds: dict[str, _Kind] = {}
        self.shapes: dict[tuple[ir.Type, ir.Type], Effect] = {}
        self.calling: list[str] = []
        self.calls = 0
        self.computed: dict[tuple[str, tuple[int, ...]], int] = {}
        self.constant: int | None = None
        self.broadcast: int | None = None

    def build(self) -> Graph:
        block = _only_block(self.program.entry)
        values: Values = {argument: at for at, argument in enumerate(block.arguments)}
        self.graph.results = [_one(value) for value in self._block(_operations(block), values)]
        return self.graph

    def _place(self, position: int) -> str | None:
        label = self.program.source.label
        return location_label(self.operations[position].location, PARSED_FROM, label)

    def _block(self, operations: Iterable[ir.Operation], values: Values) -> list[Any]:
        """Adds the operations of a block; returns what its terminator returns.

        The bulk of a program has one result and a known effect: that path is kept short.
        """
        graph, kinds, computed = self.graph, self.kinds, self.computed
        new_node, append, source = tuple.__new__, graph.nodes.append, self.operations.append
        for operation in operations:
            full_name = operation.name
            name, effect, handle, equal = kinds.get(full_name) or self._kind(full_name)
            if handle is not None:
                handle(self, name, operation, values)
            elif effect is None:
                return [values[operand] for operand in operation.operands]
            else:
                operands = tuple([values[operand] for operand in operation.operands])
                value = graph.values
                if equal and self.constant not in operands:
                    value = computed.setdefault((name, operands), value)
                values[operation.result] = value
                if value == graph.values:
                    source(operation)
                    append(new_node(Node, (name, effect, operands, value, 1, ())))
                    graph.values = value + 1
        raise ValueError("a block that does not return")

    def _kind(self, full_name: str) -> _Kind:
        """How operations of a name are added, remembered."""
        dialect, _, name = full_name.partition(".")
        if dialect not in _DIALECTS:
            kind = self.kinds[full_name] = _Kind(full_name, Effect.OPAQUE, _Builder._other, False)
            return kind
        effect: Effect | None = EFFECTS.get(name, Effect.OPAQUE)
        handle = _SPECIAL.get(name)
        if name == "return":
            effect = None
        elif handle is None and name not in _SIMPLE:
            handle = _Builder._other
        kind = self.kinds[full_name] = _Kind(name, effect, handle, name in EQUAL_BY_OPERANDS)
        return kind

    def _add(
        self,
        operation: ir.Operation,
        name: str,
        effect: Effect,
        operands: tuple[int, ...],
        values: Values,
        after: tuple[int, ...] = (),
    ) -> None:
        """Adds a node for an operation; its results become known."""
        results = operation.results
        count = len(results)
        self.operations.append(operation)
        first = self.graph.add(name, effect, operands, count or 1, after)
        for offset in range(count):
            values[results[offset]] = first + offset

    def _add_one(
        self,
        operation: ir.Operation,
        name: str,
        effect: Effect,
        operands: tuple[int, ...],
        values: Values,
    ) -> None:
        """Adds a node for an operation with one result."""
        self.operations.append(operation)
        values[operation.result] = self.graph.add(name, effect, operands)

    def _other(self, name: str, operation: ir.Operation, values: Values) -> None:
        """An operation of any form: it reads all that it can see."""
        operands = self._operands(operation, values)
        if name not in REDUCING:
            operands += self._captured(operation, values)
            if _has_side_effect(operation):
                self.graph.kept.add(len(self.graph.nodes))
        self._add(operation, name, EFFECTS.get(name, Effect.OPAQUE), operands, values)

    def _while(self, name: str, operation: ir.Operation, values: Values) -> None:
        """A loop. What its body hands on unchanged is captured, if it is read, and not carried."""
        given = [_one(values[operand]) for operand in operation.operands]
        condition, body = (region.blocks[0] for region in operation.regions)
        *_, last = body.operations
        returned = [_source(value) for value in last.operands]
        inside = list(zip(body.arguments, condition.arguments, strict=True))
        known = {own: given[at] for at, (own, _) in enumerate(inside) if returned[at] == own}
        carried, captured = [], []
        for at, (own, other) in enumerate(inside):
            if known.get(returned[at], values.get(returned[at])) != given[at]:
                carried.append(at)
            elif len([*own.uses, *other.uses]) > 1:
                captured.append(at)
        values.update(zip(operation.results, given, strict=True))
        operands = tuple(given[at] for at in carried + captured)
        operands += self._captured(operation, values)
        if _has_side_effect(operation):
            self.graph.kept.add(len(self.graph.nodes))
        self.operations.append(operation)
        first = self.graph.add(name, Effect.UPDATE, operands, len(carried) or 1)
        for offset, at in enumerate(carried):
            values[operation.results[at]] = first + offset

    def _operands(self, operation: ir.Operation, values: Values) -> tuple[int, ...]:
        found = [values[operand] for operand in operation.operands]
        if any(map(_several, found)):
            found = [each for value in found for each in (value if _several(value) else (value,))]
        return tuple(found)

    def _captured(self, operation: ir.Operation, values: Values) -> tuple[int, ...]:
        """Values from outside that an operation's regions read, each once."""
        found: dict[int, None] = {}
        for region in operation.regions:
            for block in region.blocks:
                for view in block.operations:
                    inner = view.operation
                    for operand in inner.operands:
                        value = values.get(operand)
                        if value is not None:
                            found.update(dict.fromkeys(value if _several(value) else (value,)))
                    if inner.regions:
                        found.update(dict.fromkeys(self._captured(inner, values)))
        return tuple(found)

    def _constant(self, _: str, operation: ir.Operation, values: Values) -> None:
        """All constants are one value: which one plays no part, and there are many."""
        if self.constant is None:
            self.operations.append(operation)
            self.constant = self.graph.add("constant", Effect.OPAQUE, ())
        values[operation.result] = self.constant

    def _filled(self, operation: ir.Operation) -> int:
        """The broadcast of a constant: all are one value too."""
        if self.broadcast is None:
            assert self.constant is not None
            self.operations.append(operation)
            self.broadcast = self.graph.add("broadcast_in_dim", Effect.BROADCAST, (self.constant,))
        return self.broadcast

    def _reshape(self, name: str, operation: ir.Operation, values: Values) -> None:
        """`reshape`, and `broadcast_in_dim` that only adds dimensions of size one."""
        given = operation.operands[0]
        source = values[given]
        if source == self.constant or source == self.broadcast:
            values[operation.result] = self._filled(operation)
            return
        types = operand, result = given.type, operation.result.type
        effect = self.shapes.get(types)
        if effect is None:
            broadcast = name == "broadcast_in_dim"
            if operand == result:
                effect = Effect.IDENTITY
            elif broadcast and _shape(operand) != _shape(result):
                effect = Effect.BROADCAST
            else:
                effect = Effect.RESHAPE
            self.shapes[types] = effect
        self._add_one(operation, name, effect, (_one(source),), values)

    def _convert(self, name: str, operation: ir.Operation, values: Values) -> None:
        """A conversion; to the same type it is none."""
        same = operation.operands[0].type == operation.result.type
        effect = Effect.IDENTITY if same else Effect.ELEMENTWISE
        self._add_one(operation, name, effect, self._operands(operation, values), values)

    def _elementwise(self, name: str, operation: ir.Operation, values: Values) -> None:
        """A division or a power; by a constant XLA makes it a cheap one."""
        operands = self._operands(operation, values)
        constant = operands[1] in (self.constant, self.broadcast)
        effect = Effect.ELEMENTWISE if constant else Effect.COSTLY_ELEMENTWISE
        self._add_one(operation, name, effect, operands, values)

    def _call(self, _: str, operation: ir.Operation, values: Values) -> None:
        attribute = "callee" if "callee" in operation.attributes else "decomposition"
        name = ir.FlatSymbolRefAttr(operation.attributes[attribute]).value
        function = self.functions.get(name)
        self.calls += 1
        full = len(self.graph.nodes) > _MOST_NODES or self.calls > _MOST_CALLS
        if function is None or name in self.calling or full or not function.regions[0].blocks:
            self._add(operation, name, Effect.OPAQUE, self._operands(operation, values), values)
            return
        self.calling.append(name)
        block = function.regions[0].blocks[0]
        given = [values[operand] for operand in operation.operands]
        returned = self._block(_operations(block), dict(zip(block.arguments, given, strict=True)))
        self.calling.pop()
        values.update(zip(operation.results, returned, strict=True))

    def _branches(self, name: str, operation: ir.Operation, values: Values) -> None:
        """A conditional: each branch written out, each result one of theirs."""
        seen = self._captured(operation, values)
        chooses = _one(values[operation.operands[0]])
        outside = self.computed
        returned = []
        for region in operation.regions:
            self.computed = {}
            returned.append(self._block(_operations(region.blocks[0]), values))
        self.computed = outside
        for at, result in enumerate(operation.results):
            branches = tuple(_one(values_of[at]) for values_of in returned)
            if len(set(branches)) == 1:
                values[result] = branches[0]
                continue
            self.operations.append(operation)
            values[result] = self.graph.add(name, Effect.CHOICE, (chooses, *branches), 1, seen)

    def _manual(self, _: str, operation: ir.Operation, values: Values) -> None:
        """A region run in place of the operation (`sdy.manual_computation`)."""
        block = operation.regions[0].blocks[0]
        for operand, argument in zip(operation.operands, block.arguments, strict=True):
            values[argument] = values[operand]
        returned = self._block(_operations(block), values)
        values.update(zip(operation.results, returned, strict=True))

    def _tuple(self, _: str, operation: ir.Operation, values: Values) -> None:
        values[operation.results[0]] = tuple(values[operand] for operand in operation.operands)

    def _element(self, name: str, operation: ir.Operation, values: Values) -> None:
        whole = values[operation.operands[0]]
        if _several(whole):
            index = ir.IntegerAttr(operation.attributes["index"]).value
            values[operation.results[0]] = whole[index]
        else:
            self._add(operation, name, Effect.OPAQUE, (whole,), values)

    def _custom_call(self, _: str, operation: ir.Operation, values: Values) -> None:
        attributes = operation.attributes
        target = str(attributes["call_target_name"]).strip('"@')
        operands = self._operands(operation, values)
        effect = Effect.OPAQUE
        if target in ANNOTATIONS and len(operands) == len(operation.results):
            effect = Effect.IDENTITY
        elif (updated := _updated_operand(attributes)) is not None and len(operation.results) == 1:
            effect = Effect.UPDATE
            operands = (operands[updated], *operands[:updated], *operands[updated + 1 :])
        if _has_side_effect(operation):
            self.graph.kept.add(len(self.graph.nodes))
        self._add(operation, target, effect, operands, values)


_SIMPLE = {
    name
    for name, effect in EFFECTS.items()
    if effect in FUSED and effect is not Effect.RESHAPE and name not in ("map", "reduce")
}
_SIMPLE |= {"dynamic_update_slice"}
"""Operations that have one result and no region that reads from outside."""

_SPECIAL = {
    "constant": _Builder._constant,
    "constant_like": _Builder._constant,
    "iota": _Builder._constant,
    "reshape": _Builder._reshape,
    "broadcast_in_dim": _Builder._reshape,
    "call": _Builder._call,
    "composite": _Builder._call,
    "convert": _Builder._convert,
    "bitcast_convert": _Builder._convert,
    "divide": _Builder._elementwise,
    "power": _Builder._elementwise,
    "while": _Builder._while,
    "if": _Builder._branches,
    "case": _Builder._branches,
    "manual_computation": _Builder._manual,
    "named_computation": _Builder._manual,
    "tuple": _Builder._tuple,
    "get_tuple_element": _Builder._element,
    "custom_call": _Builder._custom_call,
}


def _only_block(function: ir.Operation) -> ir.Block:
    blocks: list[ir.Block] = list(function.regions[0].blocks)
    if len(blocks) != 1:
        raise ValueError("a function of several blocks")
    return blocks[0]


def _operations(block: ir.Block) -> list[ir.Operation]:
    """The operations of a block, in order, without those in them.

    Where there is no other block, a walk that skips regions: iterating would make, and
    import, the operations' Python classes.
    """
    owner = block.owner
    if len(owner.regions) != 1 or len(owner.regions[0].blocks) != 1:
        return [view.operation for view in block.operations]
    found: list[ir.Operation] = []

    def visit(operation: ir.Operation) -> ir.WalkResult:
        found.append(operation)
        return ir.WalkResult.SKIP if len(found) > 1 else ir.WalkResult.ADVANCE

    owner.operation.walk(visit, ir.WalkOrder.PRE_ORDER)
    return found[1:]


def _has_side_effect(operation: ir.Operation) -> bool:
    """Whether an operation, or one inside it, runs even if nothing needs its results."""
    name = operation.name.partition(".")[2]
    if name in EFFECTFUL or "has_side_effect" in operation.attributes:
        return True
    blocks = [block for region in operation.regions for block in region.blocks]
    return any(_has_side_effect(view.operation) for block in blocks for view in block.operations)


def _source(value: Any) -> Any:
    """What a value is that loops hand on unchanged: what the outermost was given."""
    while isinstance(value, ir.OpResult) and value.owner.name.endswith(".while"):
        loop = value.owner
        body = loop.regions[1].blocks[0]
        *_, last = body.operations
        if _source(last.operands[value.result_number]) != body.arguments[value.result_number]:
            return value
        value = loop.operands[value.result_number]
    return value


def _updated_operand(attributes: Any) -> int | None:
    """The operand that a custom call's only result is written over, if it says so."""
    name = "output_operand_aliases"
    text = str(attributes[name]) if name in attributes else ""
    found = text.split("operand_index = ")
    return int(found[1].split(",")[0]) if len(found) == 2 else None


def _shape(type_: ir.Type) -> tuple[int, ...] | None:
    """The dimensions of a type other than those of size one, or None."""
    if not isinstance(type_, ir.RankedTensorType) or not type_.has_static_shape:
        return None
    return tuple(size for size in type_.shape if size != 1)


def _several(value: Any) -> bool:
    return isinstance(value, tuple)


def _one(value: Any) -> int:
    """The number of a value; of a tuple, that of its first element."""
    while _several(value):
        value = value[0] if value else 0
    return int(value)
