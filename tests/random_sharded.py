"""Random programs with shardings on some arguments, results and intermediate values.

Rank 2 throughout, of sizes that eight devices divide or not; texts of MLIR over Shardy's mesh.
"""

from __future__ import annotations

import random
import re

SIZES = (4, 6, 8, 16)
MESH = 'sdy.mesh @mesh = <["data"=4, "model"=2]>'


def program(seed: int, live: bool = True) -> str:
    """The text of one program; `live`: without operations that no result needs."""
    return _Maker(random.Random(seed)).text(live)


def _type(shape: tuple[int, ...]) -> str:
    return f"tensor<{'x'.join([*map(str, shape), 'f32'])}>"


def _needed(lines: list[str], names: str) -> list[str]:
    """The lines that define what is named, or what such lines name."""
    needed, kept = set(re.findall(r"%\w+", names)), []
    for line in reversed(lines):
        name, *used = re.findall(r"%\w+", line)
        if name in needed:
            needed.update(used)
            kept.append(line)
    return kept[::-1]


class _Maker:
    def __init__(self, choose: random.Random) -> None:
        self.choose = choose
        self.lines: list[str] = []
        self.values: list[tuple[str, tuple[int, ...]]] = []

    def sharding(self, rank: int) -> str:
        axes = self.choose.sample(["data", "model"], 2)
        dims = []
        for _ in range(rank):
            name = f'"{axes.pop()}"' if axes and self.choose.random() < 0.5 else ""
            is_open = self.choose.random() < 0.4
            dims.append("{" + ", ".join(filter(None, [name, "?" * is_open])) + "}")
        return f"#sdy.sharding<@mesh, [{', '.join(dims)}]>"

    def attribute(self, rank: int, chance: float) -> str:
        if self.choose.random() > chance:
            return ""
        return f" {{sdy.sharding = {self.sharding(rank)}}}"

    def emit(self, text: str, shape: tuple[int, ...]) -> None:
        name = f"%v{len(self.values)}"
        self.lines.append(f"  {name} = {text}")
        self.values.append((name, shape))

    def text(self, live: bool) -> str:
        shapes = [
            (self.choose.choice(SIZES), self.choose.choice(SIZES))
            for _ in range(self.choose.randint(2, 4))
        ]
        arguments = []
        for index, shape in enumerate(shapes):
            arguments.append(f"%a{index}: {_type(shape)}{self.attribute(2, 0.5)}")
            self.values.append((f"%a{index}", shape))
        for _ in range(self.choose.randint(3, 9)):
            self.step()
        made = self.choose.sample(self.values, self.choose.randint(1, 3))
        results = ", ".join(f"{_type(shape)}{self.attribute(2, 0.2)}" for _, shape in made)
        names = ", ".join(name for name, _ in made)
        types = ", ".join(_type(shape) for _, shape in made)
        head = f"func.func public @main({', '.join(arguments)}) -> ({results}) {{"
        lines = _needed(self.lines, names) if live else self.lines
        return "\n".join([MESH, head, *lines, f"  return {names} : {types}", "}", ""])

    def step(self) -> None:
        name, shape = self.choose.choice(self.values)
        same = [other for other, size in self.values if size == shape]
        inner = [(other, size) for other, size in self.values if size[0] == shape[1]]
        kind = self.choose.choice(["binary", "unary", "transpose", "dot", "sum", "hold", "join"])
        type_ = _type(shape)
        if kind == "binary":
            self.emit(f"stablehlo.add {name}, {self.choose.choice(same)} : {type_}", shape)
        elif kind == "unary":
            self.emit(f"stablehlo.tanh {name} : {type_}", shape)
        elif kind == "transpose":
            turned = shape[::-1]
            body = f"stablehlo.transpose {name}, dims = [1, 0] : ({type_}) -> {_type(turned)}"
            self.emit(body, turned)
        elif kind == "dot" and inner:
            other, size = self.choose.choice(inner)
            made = (shape[0], size[1])
            body = f"stablehlo.dot_general {name}, {other}, contracting_dims = [1] x [0]"
            self.emit(f"{body} : ({type_}, {_type(size)}) -> {_type(made)}", made)
        elif kind == "sum":
            self.total(name, shape)
        elif kind == "hold":
            self.emit(f"sdy.sharding_constraint {name} <{self.sharding(2)[14:]} : {type_}", shape)
        elif kind == "join":
            made = (shape[0], 2 * shape[1])
            body = f"stablehlo.concatenate {name}, {self.choose.choice(same)}, dim = 1"
            self.emit(f"{body} : ({type_}, {type_}) -> {_type(made)}", made)

    def total(self, name: str, shape: tuple[int, ...]) -> None:
        """The sums of the rows, one in each element of its row."""
        at, rows = len(self.lines), _type(shape[:1])
        self.lines += [
            f"  %z{at} = stablehlo.constant dense<0.0> : tensor<f32>",
            f"  %s{at} = stablehlo.reduce(%{name[1:]} init: %z{at}) applies stablehlo.add "
            f"across dimensions = [1] : ({_type(shape)}, tensor<f32>) -> {rows}",
        ]
        body = f"stablehlo.broadcast_in_dim %s{at}, dims = [0] : ({rows}) -> {_type(shape)}"
        self.emit(body, shape)
