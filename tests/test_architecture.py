"""The tree keeps the imports that `docs/architecture.md` shows: between crates, and without circles of files."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path

CRATES = Path(__file__).parents[1] / "crates"

IMPORTS: dict[str, set[str]] = {
    "core": set(),
    "net": {"core"},
    "control": {"core"},
    "plugin": set(),
    "own": {"core", "net", "control", "plugin", "scenario"},
    "tcp": {"core", "control"},
    "mobility": {"core", "net"},
    "orbit": {"core", "mobility", "net"},
    "radio": {"core", "mobility", "net"},
    "routing": {"core", "mobility", "net"},
    "wire": {"core", "net", "routing", "tcp"},
    "host": {"core", "control", "tcp", "wire"},
    "scenario": {"core", "net", "control", "tcp", "mobility", "orbit", "radio", "routing", "wire"},
    "sim": {"core", "net", "control", "tcp", "mobility", "orbit", "radio", "routing", "wire", "scenario"},
    "gym": {"core", "scenario", "sim"},
    "live": {"core", "net", "control", "tcp", "wire", "host", "scenario", "sim"},
    "packetdrill": {"core", "control", "tcp", "host"},
    "preload": set(),
    "web": {"core", "net", "control", "tcp", "mobility", "orbit", "wire", "scenario", "sim"},
    "python": {
        *("core", "net", "control", "tcp", "mobility", "orbit", "routing", "wire", "host"),
        *("scenario", "sim", "gym", "live", "own", "plugin", "web"),
    },
}
"""The crates, each with those that it may import."""

CIRCLES = [
    {"control::congestion::cubic", "control::congestion::registry"},
    {"net::queue::drop_tail", "net::queue::registry"},
    {"packetdrill::interface", "packetdrill::preload"},
]
"""Files that may import each other: kinds and the registry that lists them, and the callback of a packet script."""

Module = tuple[str, ...]


def test_crates_import_only_what_the_picture_shows() -> None:
    found = {}
    for crate in sorted(CRATES.iterdir()):
        manifest = tomllib.loads((crate / "Cargo.toml").read_text())
        needs = [name for name in manifest.get("dependencies", {}) if name.startswith("lightlag-")]
        found[crate.name.removeprefix("lightlag-")] = {name.removeprefix("lightlag-") for name in needs}
    assert found.keys() == IMPORTS.keys()
    for name, names in found.items():
        assert names <= IMPORTS[name], f"{name} imports {names - IMPORTS[name]}"


def test_no_files_import_each_other_in_a_circle() -> None:
    found = [
        {f"{crate.name.removeprefix('lightlag-')}::{'::'.join(module)}" for module in circle}
        for crate in sorted(CRATES.iterdir())
        for circle in circles(imports(crate / "src"))
    ]
    assert sorted(map(sorted, found)) == sorted(map(sorted, CIRCLES))


def imports(source: Path) -> dict[Module, set[Module]]:
    """The modules of a crate, each with those it imports. A module and those inside it may import each other."""
    modules = {}
    for file in source.rglob("*.rs"):
        parts = file.relative_to(source).with_suffix("").parts
        if "tests" not in parts:
            modules[parts[:-1] if parts[-1] in ("lib", "mod") else parts] = file.read_text()
    return {module: set(imported(module, text, modules)) for module, text in modules.items()}


def imported(module: Module, text: str, modules: Mapping[Module, str]) -> Iterator[Module]:
    """The modules that the text of one names, by paths from `crate` or `super`."""
    text = re.sub(r"//[^\n]*", "", re.split(r"#\[cfg\(test\)\]\s*mod tests", text)[0])
    for root, steps, group in re.findall(r"\b(crate|super)((?:::\w+)*)(?:::\{([^;]*?)\}\s*;)?", text):
        base, path = (() if root == "crate" else module[:-1]), tuple(filter(None, steps.split("::")))
        while path[:1] == ("super",):
            base, path = base[:-1], path[1:]
        for item in re.findall(r"\w+(?:::\w+)*", group) or [""]:
            place = (*base, *path, *filter(None, item.split("::")))
            while place not in modules:
                place = place[:-1]
            if place[: len(module)] != module and module[: len(place)] != place:
                yield place


def circles(graph: Mapping[Module, set[Module]]) -> Iterator[set[Module]]:
    """The sets of modules that reach each other."""
    reached = {module: reach(graph, module) for module in graph}
    seen: set[Module] = set()
    for module in graph:
        circle = {other for other in reached[module] if module in reached[other]}
        if circle and module not in seen:
            seen |= circle
            yield circle


def reach(graph: Mapping[Module, set[Module]], start: Module) -> set[Module]:
    """The modules to which imports lead from one."""
    found: set[Module] = set()
    waiting = [start]
    while waiting:
        for module in graph[waiting.pop()] - found:
            found.add(module)
            waiting.append(module)
    return found
