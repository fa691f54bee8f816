"""The imports between the files of a crate, read from its text.

A module is the tuple of its names starting at the root of the crate; the root is the empty tuple. A path is followed to
the file that defines its item: through every `pub use`, which by itself is not an import. Imports of a module's
ancestors are left out, because Rust lets a file use the private items of its ancestors. Imports of a module's children
count.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

Module = tuple[str, ...]
Graph = dict[Module, set[Module]]

NOISE = re.compile(r'//[^\n]*|/\*.*?\*/|b?"(?:\\.|[^"\\])*"|r#"(?:.*?)"#', re.DOTALL)
TESTS = re.compile(r"#\[cfg\(test\)\]\s*(?:mod \w+\s*\{.*\Z|mod \w+;)", re.DOTALL)
_USE = re.compile(r"\b(pub(?:\([^)]*\))?\s+)?use\s+([^;]+);")
_CHILD = re.compile(r"\bmod\s+(\w+)\s*;")
_PATH = re.compile(r"(?<![\w:])(\$?\w+(?:::\w+)+)")

_DEEPEST = 12
"""Maximum number of re-exports through which a name is followed; two that refer to each other would never end."""


@dataclass
class _File:
    """The modules, names and paths in a file."""

    children: set[str] = field(default_factory=set)
    public: dict[str, list[str]] = field(default_factory=dict)
    """Re-exported names, each with its path."""
    names: dict[str, list[str]] = field(default_factory=dict)
    """All names that `use` brings into scope, each with its path."""
    paths: list[list[str]] = field(default_factory=list)
    """Paths that count as imports."""


def imports(source: Path) -> Graph:
    """Returns the modules of a crate, each with the modules that it imports. `source` is the directory of the crate's
    files.
    """
    files = {module: _read(text) for module, text in _texts(source)}
    graph: Graph = {}
    for module, one in files.items():
        found = {place for path in one.paths for place in _places(files, module, path)}
        graph[module] = {place for place in found if module[: len(place)] != place}
    return graph


def naming(source: Path, crate: str) -> set[Module]:
    """Returns the modules of a crate that name another crate outside of tests. `source` is the directory of the crate's
    files.
    """
    name = re.compile(rf"\b{crate}\b")
    return {module for module, text in _texts(source) if name.search(TESTS.sub("", NOISE.sub(" ", text)))}


def of_rooms(graph: Mapping[Module, set[Module]]) -> Graph:
    """Returns the imports between the top-level modules of a crate. Its root, which names them all, is left out."""
    rooms: Graph = {}
    for module, found in graph.items():
        if module:
            rooms.setdefault(module[:1], set()).update(one[:1] for one in found if one and one[:1] != module[:1])
    return rooms


def circles(graph: Mapping[Module, set[Module]]) -> Iterator[set[Module]]:
    """Yields the sets of modules that import one another, directly or indirectly."""
    reached = {module: _reach(graph, module) for module in graph}
    seen: set[Module] = set()
    for module in graph:
        circle = {other for other in reached[module] if module in reached[other]}
        if circle and module not in seen:
            seen |= circle
            yield circle


def _texts(source: Path) -> Iterator[tuple[Module, str]]:
    """Yields the modules below a directory, except tests, with their texts."""
    for file in sorted(source.rglob("*.rs")):
        parts = file.relative_to(source).with_suffix("").parts
        if "tests" not in parts:
            yield parts[:-1] if parts[-1] in ("lib", "mod", "main") else parts, file.read_text("utf-8")


def _read(text: str) -> _File:
    text = TESTS.sub("", NOISE.sub(" ", text))
    file = _File(children=set(_CHILD.findall(text)))
    rest = _USE.sub(" ", text)
    words = set(re.findall(r"\w+", rest))
    for public, tree in _USE.findall(text):
        for path, name in _leaves(re.sub(r"\s+", " ", tree.strip())):
            if public:
                file.public[name] = path
            file.names[name] = path
            # A re-export counts if the file uses the name itself.
            if not public or name in words:
                file.paths.append(path)
    file.paths.extend(path.split("::") for path in _PATH.findall(rest))
    return file


def _leaves(tree: str) -> Iterator[tuple[list[str], str]]:
    """Yields the paths of a tree of `use`, each with the name that it brings."""
    head, brace, group = tree.partition("{")
    if not brace:
        path, _, other = tree.partition(" as ")
        steps = path.strip().split("::")
        if steps[-1] == "self":
            steps = steps[:-1]
        yield steps, other.strip() or steps[-1]
        return
    depth, start, group = 0, 0, group.rsplit("}", 1)[0] + ","
    for place, letter in enumerate(group):
        depth += (letter == "{") - (letter == "}")
        if letter == "," and depth == 0:
            item = group[start:place].strip()
            start = place + 1
            if item:
                yield from _leaves(head.strip() + item)


def _places(files: Mapping[Module, _File], module: Module, path: list[str], depth: int = 0) -> Iterator[Module]:
    """Yields the modules that define what a path names; nothing if it leads out of the crate."""
    if depth > _DEEPEST:
        return
    base, steps = module, list(path)
    if steps[0] in ("crate", "$crate"):
        base, steps = (), steps[1:]
    elif steps[0] in ("super", "self"):
        while steps and steps[0] in ("super", "self"):
            base, steps = (base[:-1] if steps[0] == "super" else base), steps[1:]
    elif steps[0] in files[module].children:
        pass
    elif steps[0] in files[module].names and files[module].names[steps[0]] != path:
        yield from _places(files, module, [*files[module].names[steps[0]], *steps[1:]], depth + 1)
        return
    else:
        return
    while steps and (*base, steps[0]) in files:
        base, steps = (*base, steps[0]), steps[1:]
    if base not in files:
        return
    if steps and steps[0] in files[base].public:
        yield from _places(files, base, [*files[base].public[steps[0]], *steps[1:]], depth + 1)
    elif steps and steps[0] == "*":
        yield base
        for brought in files[base].public.values():
            yield from _places(files, base, brought, depth + 1)
    else:
        yield base


def _reach(graph: Mapping[Module, set[Module]], start: Module) -> set[Module]:
    """Returns the modules that are reachable from one by imports."""
    found: set[Module] = set()
    waiting = [start]
    while waiting:
        for module in graph.get(waiting.pop(), set()) - found:
            found.add(module)
            waiting.append(module)
    return found
