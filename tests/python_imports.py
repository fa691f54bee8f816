"""The imports between modules of a Python package, anywhere in a module."""

from __future__ import annotations

import ast
import graphlib
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path

__all__ = ["circle", "imports", "of_units"]

Graph = dict[str, set[str]]
"""The modules that each module imports; a package is represented by its ``__init__``."""


@cache
def imports(folder: Path) -> Graph:
    """The imports of all modules of the package in `folder`.

    Imports inside functions count, and so do modules that a text names, as ``"package.module"`` or
    ``"package.module:name"``. Those under ``TYPE_CHECKING`` do not. A name that a package re-exports counts as an
    import of the module that defines it, and an import from a package runs its ``__init__``, unless the importer is
    inside.
    """
    files = {_name(folder, file): file for kind in ("*.py", "*.pyi") for file in sorted(folder.rglob(kind))}
    trees = {name: ast.parse(file.read_text("utf-8")) for name, file in files.items()}
    packages = {name for name, file in files.items() if file.name == "__init__.py"}
    passed = {name: dict(_passed(trees[name], files)) for name in packages}
    graph: Graph = {}
    for name, tree in trees.items():
        found = {_defining(target, passed, files) for target in _targets(tree, files)}
        run = {package for target in found for package in _packages(target)} - {*_packages(name)}
        graph[name] = (found | run) - {name}
    return graph


def circle(graph: Graph) -> list[str]:
    """Returns an import cycle, from a module back to itself; empty if there is none."""
    try:
        graphlib.TopologicalSorter(graph).prepare()
    except graphlib.CycleError as error:
        return list(error.args[1])
    return []


def of_units(graph: Graph, units: Iterable[str]) -> Graph:
    """Returns the imports between units, which are packages or single modules. A module belongs to the unit with the
    longest name that contains it.
    """
    by_length = sorted(units, key=len, reverse=True)

    def unit(name: str) -> str:
        return next((one for one in by_length if name == one or name.startswith(f"{one}.")), name)

    found: Graph = {}
    for name, targets in graph.items():
        found.setdefault(unit(name), set()).update(unit(target) for target in targets)
    return {name: targets - {name} for name, targets in found.items()}


def _name(folder: Path, file: Path) -> str:
    parts = file.relative_to(folder.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _packages(module: str) -> Iterator[str]:
    """Returns the packages that contain a module, except the outermost one, which every import runs."""
    parts = module.split(".")
    return (".".join(parts[:count]) for count in range(2, len(parts)))


def _targets(tree: ast.Module, modules: Mapping[str, Path]) -> Iterator[str]:
    """The modules, and the names of modules, that a module imports."""
    for node in _running(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in modules)
        elif isinstance(node, ast.ImportFrom) and node.module in modules:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            module = node.value.partition(":")[0]
            if "." in module and module in modules:
                yield module


def _running(tree: ast.AST) -> Iterator[ast.AST]:
    """Yields the nodes of a tree, except those under ``TYPE_CHECKING``."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and _is_for_types(node):
            children: list[ast.AST] = list(node.orelse)
        else:
            children = [node]
        for child in children:
            yield child
            yield from _running(child)


def _is_for_types(node: ast.If) -> bool:
    return ast.unparse(node.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING")


def _passed(tree: ast.Module, modules: Mapping[str, Path]) -> Iterator[tuple[str, str]]:
    """Returns the names that an ``__init__`` re-exports, and where they come from."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module in modules:
            yield from ((alias.asname or alias.name, f"{node.module}.{alias.name}") for alias in node.names)


def _defining(target: str, passed: Mapping[str, Mapping[str, str]], modules: Mapping[str, Path]) -> str:
    """Returns the module of an import target: the target itself, or the module that defines the name."""
    seen = set()
    while target not in seen:
        seen.add(target)
        package, _, name = target.rpartition(".")
        target = passed.get(package, {}).get(name, target)
    return target if target in modules else target.rpartition(".")[0]
