"""The imports between Python packages are those in `docs/architecture.md`, in one direction and without cycles."""

from __future__ import annotations

from pathlib import Path

import pytest

import lightlag
import python_imports

ROOT = Path(__file__).parents[1]
PYTHON = ROOT / "python" / "lightlag"
PAPERS = ROOT / "papers" / "lightlag_papers"
MODULES = {"analyse", "libm", "plot", "presets"}
"""The modules that are public objects of ``lightlag`` themselves."""

BASE = {"_engine", "_renamed", "_signals", "errors", "text"}
"""Modules that every Python module may import: the engine, renamed names, signals, errors, and text for people."""

LAYERS: dict[str, set[str]] = {
    "_engine": set(),
    "_renamed": set(),
    "_signals": set(),
    "text": {"_engine"},
    "_compiled": {"text"},
    "errors": {"_compiled", "_engine", "text"},
    "libm": BASE,
    "files": BASE,
    "machine": BASE,
    "records": BASE | {"files"},
    "qlog": BASE | {"files", "records"},
    "analyse": BASE | {"records"},
    "satellite": BASE,
    "custom": BASE | {"_compiled", "files", "libm"},
    "scenario": BASE | {"custom"},
    "presets": BASE | {"scenario"},
    "scenario.presets": {"presets"},
    "scenario.reading": BASE | {"files", "records", "scenario", "scenario.presets"},
    "drawing": BASE | {"analyse", "files"},
    "swarm": BASE | {"analyse", "drawing", "files"},
    "constellation": BASE | {"analyse", "drawing", "files", "records", "scenario", "scenario.reading"},
    "emulation": BASE | {"files", "scenario", "scenario.reading"},
    "outcomes": BASE | {"analyse", "files", "machine", "records", "scenario", "scenario.reading"},
    "words": BASE | {"constellation", "outcomes", "presets", "scenario", "scenario.reading"},
    "plot": BASE | {"analyse", "constellation", "drawing", "files", "outcomes", "records", "swarm"},
    "report": BASE | {"analyse", "constellation", "files", "outcomes", "records", "swarm", "words"},
    "results": BASE | {"analyse", "constellation", "drawing", "plot", "qlog", "records", "report", "swarm"},
    "running": BASE
    | {"files", "machine", "outcomes", "custom", "qlog", "records", "results", "scenario", "scenario.reading"},
    "captures": BASE | {"analyse", "drawing", "files", "outcomes", "results", "running", "scenario"},
    "comparison": BASE | {"drawing", "files", "machine", "outcomes", "plot", "records", "report", "running"},
    "study": BASE
    | {"analyse", "comparison", "files", "machine", "outcomes", "records", "results", "running"}
    | {"scenario", "scenario.presets", "scenario.reading"},
    "difference": BASE
    | {"captures", "comparison", "files", "outcomes", "records", "results", "study"}
    | {"scenario", "scenario.presets", "scenario.reading"},
    "diagnosis": BASE | {"captures", "files", "machine", "results", "running", "scenario"},
    "loading": BASE | {"comparison", "results", "study"},
    "imports": BASE | {"captures", "files", "outcomes", "scenario", "scenario.reading"},
    "exports": BASE | {"constellation", "files", "running", "scenario", "scenario.reading"},
    "validation": BASE
    | {"analyse", "custom", "drawing", "files", "machine", "outcomes", "records", "results", "running"}
    | {"scenario", "scenario.reading"},
    "gym": BASE | {"machine", "outcomes", "records", "results", "scenario", "scenario.reading", "study"},
    "studio": BASE
    | {"comparison", "files", "machine", "outcomes", "presets", "records", "results", "running", "study"}
    | {"scenario", "scenario.reading"},
    "course": BASE | {"custom", "files", "results", "running"},
    "commands": BASE
    | {
        "analyse",
        "captures",
        "comparison",
        "constellation",
        "course",
        "diagnosis",
        "difference",
        "drawing",
        "emulation",
    }
    | {
        "exports",
        "files",
        "imports",
        "machine",
        "outcomes",
        "custom",
        "plot",
        "qlog",
        "records",
        "results",
        "running",
        "scenario",
    }
    | {"satellite", "validation"}
    | {"scenario.presets", "scenario.reading", "studio", "study", "words"},
    "cli": BASE
    | {"analyse", "commands", "comparison", "drawing", "files", "machine", "outcomes", "records"}
    | {"running", "scenario", "scenario.reading", "words"},
    "_start": BASE | {"cli", "machine"},
    "__main__": {"_start"},
}
"""The packages and modules of ``lightlag``, lowest first, each with those that it may import. The two modules of
``scenario`` with names of presets and results directories are above its classes."""

CROSSING = {
    "two modules": {"a.py": "from p.b import B\nA = 1", "b.py": "import p.a\nB = 1"},
    "an import inside a function": {
        "a.py": "from p import b",
        "b.py": "def f() -> None:\n    from p.a import A",
    },
    "a name that a package passes on": {
        "a/__init__.py": "from p.a.inner import A",
        "a/inner.py": "from p.b import B\nA = 1",
        "b.py": "from p.a import A\nB = 1",
    },
    "a name that a package passes on when it is used": {
        "a/__init__.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from p.a.inner import A",
        "a/inner.py": "from p.b import B\nA = 1",
        "b.py": "from p.a import A\nB = 1",
    },
    "a package that an import from it runs": {
        "a/__init__.py": "import p.b",
        "a/inner.py": "A = 1",
        "b.py": "from p.a.inner import A",
    },
    "a child that imports from its parent, which imports the child": {
        "a/__init__.py": "from p.a.inner import A\nB = 1",
        "a/inner.py": "from p.a import B\nA = 1",
    },
    "a module by its name in a text": {"a.py": "COMMANDS = ['p.b:f']", "b.py": "from p import a"},
}
"""Packages with an import cycle, one for each way to write the imports in Python."""

PLAIN = {
    "an import for types alone": {
        "a.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from p.b import B",
        "b.py": "from p.a import A",
    },
    "children of a package that passes them on": {
        "a/__init__.py": "from p.a.upper import A",
        "a/upper.py": "from p.a.lower import B\nA = 1",
        "a/lower.py": "B = 1",
    },
    "a text that is not a module": {"a.py": "ABOUT = 'p.b is above'", "b.py": "from p import a"},
}
"""Packages without an import cycle."""


@pytest.mark.parametrize("folder", [PYTHON, PAPERS], ids=lambda folder: folder.name)
def test_python_modules_do_not_import_each_other_in_a_circle(folder: Path) -> None:
    assert python_imports.circle(python_imports.imports(folder)) == []


def test_the_package_does_not_import_the_papers() -> None:
    assert not [file for file in PYTHON.rglob("*.py") if "lightlag_papers" in file.read_text("utf-8")]


def test_python_packages_import_only_what_the_table_shows() -> None:
    units = {f"lightlag.{name}" for name in LAYERS}
    found = python_imports.of_units(python_imports.imports(PYTHON), units)
    del found["lightlag"]
    assert found.keys() <= units, "a package that the table does not show"
    for name, names in found.items():
        unit = name.removeprefix("lightlag.")
        more = {other.removeprefix("lightlag.") for other in names} - LAYERS[unit]
        assert not more, f"{unit} imports {more}"


def test_the_table_of_packages_has_a_direction() -> None:
    below: set[str] = set()
    for name, names in LAYERS.items():
        assert names - {name} <= below | BASE, f"{name} may import what is above it: {names - below - BASE}"
        below.add(name)


def test_no_python_package_is_called_like_a_public_name() -> None:
    inside = {name.split(".")[1] for name in python_imports.imports(PYTHON) if "." in name}
    assert inside & set(lightlag.__all__) == MODULES


@pytest.mark.parametrize("kind", CROSSING)
def test_each_kind_of_circle_in_python_is_seen(kind: str, tmp_path: Path) -> None:
    assert python_imports.circle(python_imports.imports(package(tmp_path, CROSSING[kind])))


@pytest.mark.parametrize("kind", PLAIN)
def test_acyclic_python_imports_are_not_reported(kind: str, tmp_path: Path) -> None:
    assert python_imports.circle(python_imports.imports(package(tmp_path, PLAIN[kind]))) == []


def package(folder: Path, files: dict[str, str]) -> Path:
    """Writes the modules of a package ``p``, and returns its directory."""
    for name, text in {"__init__.py": "", **files}.items():
        file = folder / "p" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return folder / "p"
