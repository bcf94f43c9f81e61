"""Who may import whom, and how passes are spelled: the rules of the house."""

from __future__ import annotations

import ast
import dataclasses
import inspect
from collections.abc import Iterator
from pathlib import Path

import pytest
from golden import TESTDATA

import hlopass
from hlopass.passes import Pass, all_passes

PACKAGE = Path(hlopass.__file__).parent
FILES = sorted(path.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("*.py"))
PASS_FILES = [name for name in FILES if name.startswith("passes/") and "/_" not in name]

MLIR = {
    "alias_table.py",
    "buffers.py",
    "dataflow.py",
    "donation_attrs.py",
    "entry.py",
    "jaxlib_compat.py",
    "loaded.py",
    "naming.py",
    "pipeline.py",
    "program.py",
    "sharding_attrs.py",
    "sharding_ops.py",
    "sharding_rewrite.py",
}
"""Files that may know MLIR, beside formats/, passes/ and proof/."""

PURE = {
    "common_mesh.py",
    "config_file.py",
    "diagnostics.py",
    "emit.py",
    "donation.py",
    "files.py",
    "flow.py",
    "gspmd.py",
    "hlo_origin.py",
    "layout.py",
    "manifest.py",
    "sdy_text.py",
    "placement.py",
    "shard_entry.py",
    "shard_report.py",
    "shard_table.py",
    "sharded.py",
    "sharding_checks.py",
    "sharding_convert.py",
    "sharding_plan.py",
    "shard_picture.py",
    "shard_resolve.py",
    "shardspec.py",
    "names.py",
    "pairing.py",
    "parts.py",
    "planning.py",
    "report.py",
    "requests.py",
    "reuse.py",
    "values.py",
}
"""Files that know no MLIR, not even through another file of this package."""

ABOVE = {"hlopass.cli": {"__main__.py"}, "hlopass.api": {"cli.py", "cli_parts.py", "__init__.py"}}
"""What stands at the top, and the files that may call it."""


def imports(name: str, lazy: bool = True) -> Iterator[str]:
    """The modules that a file imports, by full name; `lazy`: inside functions as well."""
    tree = ast.parse((PACKAGE / name).read_text())
    nodes = ast.walk(tree) if lazy else top_level(tree)
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name} has a relative import"
            assert node.module is not None
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def top_level(tree: ast.Module) -> Iterator[ast.AST]:
    """The statements that run when a module is imported; not those for type checkers."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        checking = isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        if not checking and not isinstance(node, (ast.FunctionDef, ast.Lambda)):
            waiting += ast.iter_child_nodes(node)


def is_below(module: str, *packages: str) -> bool:
    """Whether a module is one of the packages or inside one."""
    return any(module == package or module.startswith(f"{package}.") for package in packages)


def loaded_by(name: str) -> set[str]:
    """The files of this package that importing a file loads, itself included."""
    found: set[str] = set()
    waiting = [name]
    while waiting:
        file = waiting.pop()
        if file in found:
            continue
        found.add(file)
        for module in imports(file, lazy=False):
            if is_below(module, "hlopass"):
                path = module.replace(".", "/").removeprefix("hlopass").removeprefix("/")
                choices = (f"{path}.py", f"{path}/__init__.py".removeprefix("/"))
                waiting += [choice for choice in choices if choice in FILES]
    return found


@pytest.mark.parametrize("name", FILES)
def test_only_some_files_know_mlir(name: str) -> None:
    if name in MLIR or name.startswith(("formats/", "passes/", "proof/")):
        return
    found = [module for module in imports(name) if is_below(module, "jaxlib.mlir")]
    assert not found, f"{name} imports {found}: MLIR stays in {sorted(MLIR)}, formats and passes"


@pytest.mark.parametrize("name", FILES)
def test_only_the_proof_knows_jax_and_the_client(name: str) -> None:
    if name.startswith("proof/"):
        return
    assert not [module for module in imports(name) if is_below(module, "jax")], name
    if name != "jaxlib_compat.py":
        private = ("jaxlib._jax", "jaxlib.xla_client", "jaxlib._hlo", "jaxlib.mlir._mlir_libs")
        assert not [module for module in imports(name) if is_below(module, *private)], name


@pytest.mark.parametrize("name", sorted(PURE))
def test_pure_files_load_no_mlir(name: str) -> None:
    assert name in FILES
    loaded = loaded_by(name)
    assert not loaded & MLIR, f"{name} loads {sorted(loaded & MLIR)}"
    assert not [file for file in loaded if file.startswith(("passes/", "formats/", "proof/"))]


@pytest.mark.parametrize("name", ["cli.py", "guard.py", "__init__.py", "__main__.py"])
def test_the_command_line_starts_without_the_compiler(name: str) -> None:
    assert not loaded_by(name) & MLIR
    foreign = {module for file in loaded_by(name) for module in imports(file, lazy=False)}
    assert not [module for module in foreign if is_below(module, "jaxlib", "jax", "numpy", "rich")]


@pytest.mark.parametrize("name", ["api.py", "pipeline.py"])
def test_rewriting_does_not_load_the_proof(name: str) -> None:
    assert not [file for file in loaded_by(name) if file.startswith("proof/")]


@pytest.mark.parametrize("name", FILES)
def test_nothing_calls_back_up(name: str) -> None:
    for module, callers in ABOVE.items():
        if name not in callers:
            assert not [found for found in imports(name) if is_below(found, module)]


@pytest.mark.parametrize("name", FILES)
def test_every_file_says_what_it_is(name: str) -> None:
    tree = ast.parse((PACKAGE / name).read_text())
    assert ast.get_docstring(tree), f"{name} has no docstring"


@pytest.mark.parametrize("name", PASS_FILES)
def test_a_pass_has_one_spelling(name: str) -> None:
    stem = Path(name).stem
    cls = all_passes()[stem.replace("_", "-")]
    assert cls.__name__ == stem.title().replace("_", "")
    assert cls.__module__ == f"hlopass.passes.{stem}"
    folder = TESTDATA / stem
    cases = [path for path in folder.glob("*.mlir") if "RUN: hlopass" in path.read_text()]
    assert cases, f"pass {cls.name} has no golden test in {folder}"


@pytest.mark.parametrize("cls", all_passes().values(), ids=list(all_passes()))
def test_a_pass_is_a_documented_frozen_dataclass(cls: type[Pass]) -> None:
    assert dataclasses.is_dataclass(cls) and cls() == cls()
    assert cls.__dataclass_params__.frozen  # type: ignore[attr-defined]
    document = inspect.getdoc(cls) or ""
    first = document.partition("\n")[0]
    assert first.endswith(".") and first[0].isupper() and len(first) < 90
    assert "```mlir" in document, f"{cls.name} shows no module before and after"
    assert "run" in vars(cls)
