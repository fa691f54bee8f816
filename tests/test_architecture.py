"""The tree keeps the imports that `docs/architecture.md` shows: between crates, and without circles of files."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

import lightlag
import python_imports
import rust_imports

ROOT = Path(__file__).parents[1]
CRATES = {
    **{folder.name.removeprefix("lightlag-"): folder for folder in sorted((ROOT / "crates").iterdir())},
    **{folder.name: folder for folder in sorted((ROOT / "tools").iterdir())},
}
"""The folder of each crate; those of tools are no part of the package."""

PYTHON = ROOT / "python" / "lightlag"
PAPERS = ROOT / "papers" / "lightlag_papers"
MODULES = {"analyse", "libm", "plot", "presets"}
"""The modules that are public objects of ``lightlag`` themselves."""

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
    {"mobility::models::group", "mobility::models::motion", "mobility::models::registry"},
    {"net::queue::drop_tail", "net::queue::registry"},
]
"""Files that may import each other: a registry, and a kind of it that builds upon another one."""

BASE = {"_engine", "_signals", "errors", "text"}
"""What every Python module may import: the engine, signals, errors, and text for people."""

LAYERS: dict[str, set[str]] = {
    "_engine": set(),
    "_signals": set(),
    "text": set(),
    "validation": set(),
    "_compiled": {"text"},
    "errors": {"_compiled", "_engine", "text"},
    "libm": BASE,
    "files": BASE,
    "machine": BASE,
    "records": BASE | {"files"},
    "analyse": BASE | {"records"},
    "own": BASE | {"_compiled", "files", "libm"},
    "scenario": BASE | {"own"},
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
    "results": BASE | {"analyse", "constellation", "plot", "records", "report", "swarm"},
    "running": BASE | {"files", "machine", "outcomes", "own", "records", "results", "scenario", "scenario.reading"},
    "captures": BASE | {"analyse", "drawing", "files", "outcomes", "results", "running", "scenario"},
    "comparison": BASE | {"drawing", "files", "machine", "outcomes", "plot", "records", "report", "running"},
    "study": BASE
    | {"analyse", "comparison", "files", "machine", "outcomes", "records", "results", "running"}
    | {"scenario", "scenario.presets", "scenario.reading"},
    "difference": BASE
    | {"captures", "comparison", "outcomes", "records", "results", "study"}
    | {"scenario", "scenario.presets", "scenario.reading"},
    "loading": BASE | {"comparison", "results", "study"},
    "imports": BASE | {"captures", "files", "outcomes", "scenario", "scenario.reading"},
    "judge": BASE
    | {"analyse", "drawing", "files", "machine", "outcomes", "records", "results", "running", "validation"}
    | {"scenario", "scenario.reading"},
    "gym": BASE | {"outcomes", "records", "results", "scenario", "scenario.reading", "study"},
    "studio": BASE
    | {"comparison", "files", "machine", "outcomes", "presets", "records", "results", "running", "study"}
    | {"scenario", "scenario.reading"},
    "commands": BASE
    | {"analyse", "captures", "comparison", "constellation", "difference", "drawing", "emulation", "files", "imports"}
    | {"judge", "machine", "outcomes", "own", "plot", "records", "results", "running", "scenario"}
    | {"scenario.presets", "scenario.reading", "studio", "study", "words"},
    "cli": BASE
    | {"analyse", "commands", "comparison", "drawing", "files", "machine", "outcomes", "records"}
    | {"running", "scenario", "scenario.reading", "words"},
    "_start": BASE | {"cli", "machine"},
    "__main__": {"_start"},
}
"""The packages and modules of ``lightlag``, lowest first, each with those that it may import. The two modules of
``scenario`` that know names of presets and folders of results are above its classes."""

PYTHON_CROSSING = {
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
"""Packages with a circle, in each way in which Python may write one."""

PYTHON_PLAIN = {
    "an import for types alone": {
        "a.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from p.b import B",
        "b.py": "from p.a import A",
    },
    "children of a package that passes them on": {
        "a/__init__.py": "from p.a.upper import A",
        "a/upper.py": "from p.a.lower import B\nA = 1",
        "a/lower.py": "B = 1",
    },
    "a text that is no module": {"a.py": "ABOUT = 'p.b is above'", "b.py": "from p import a"},
}
"""Packages without one."""

CROSSING = {
    "siblings": {
        "lib.rs": "mod a; mod b;",
        "a.rs": "use crate::b::B; pub struct A;",
        "b.rs": "use super::a::A; pub struct B;",
    },
    "a group of imports": {
        "lib.rs": "mod a; mod b;",
        "a.rs": "use crate::{b::{B, self}}; pub struct A;",
        "b.rs": "use crate::{a::A}; pub struct B;",
    },
    "a path inside a line": {
        "lib.rs": "mod a; mod b;",
        "a.rs": "fn f() { crate::b::g() }",
        "b.rs": "pub fn g() { super::a::f() }",
    },
    "a child, by its parent's name for it": {
        "lib.rs": "mod a; mod b;",
        "a.rs": "mod inner; use inner::I; pub struct A;",
        "a/inner.rs": "use crate::b::B; pub struct I;",
        "b.rs": "use crate::a::A; pub struct B;",
    },
    "a name that another file passes on": {
        "lib.rs": "mod a; mod b; pub use a::A; pub use b::B;",
        "a.rs": "use crate::B; pub struct A;",
        "b.rs": "use crate::A; pub struct B;",
    },
    "a name under another name": {
        "lib.rs": "mod a; mod b; pub use b::B as Other;",
        "a.rs": "use crate::Other; pub struct A;",
        "b.rs": "use crate::a::A; pub struct B;",
    },
}
"""Crates in which `a` and `b` import each other, in each way in which that may be written."""

PLAIN = {
    "a re-export alone": {
        "lib.rs": "mod a; mod b;",
        "a.rs": "pub use crate::b::B; pub struct A;",
        "b.rs": "use crate::a::A; pub struct B;",
    },
    "a child that knows its parent": {
        "lib.rs": "mod a;",
        "a.rs": "mod inner; use inner::I; pub struct A;",
        "a/inner.rs": "use super::A; pub struct I;",
    },
    "tests": {
        "lib.rs": "mod a; mod b;",
        "a.rs": "pub struct A;\n#[cfg(test)]\nmod tests { use crate::b::B; }",
        "b.rs": "use crate::a::A; pub struct B;",
    },
    "words in comments and texts": {
        "lib.rs": "mod a; mod b;",
        "a.rs": '//! Beside [`crate::b::B`].\nconst T: &str = "crate::b::B"; pub struct A;',
        "b.rs": "use crate::a::A; pub struct B;",
    },
}
"""Crates without a circle."""


def test_crates_import_only_what_the_picture_shows() -> None:
    found = {}
    for crate, folder in CRATES.items():
        manifest = tomllib.loads((folder / "Cargo.toml").read_text())
        needs = [name for name in manifest.get("dependencies", {}) if name.startswith("lightlag-")]
        found[crate] = {name.removeprefix("lightlag-") for name in needs}
    assert found.keys() == IMPORTS.keys()
    for name, names in found.items():
        assert names <= IMPORTS[name], f"{name} imports {names - IMPORTS[name]}"


def test_no_files_import_each_other_in_a_circle() -> None:
    found = [
        {f"{crate}::{'::'.join(module)}" for module in circle}
        for crate, folder in CRATES.items()
        for circle in rust_imports.circles(rust_imports.imports(folder / "src"))
    ]
    assert sorted(map(sorted, found)) == sorted(map(sorted, CIRCLES))


@pytest.mark.parametrize("crate", CRATES)
def test_no_modules_of_a_crate_import_each_other_in_a_circle(crate: str) -> None:
    rooms = rust_imports.of_rooms(rust_imports.imports(CRATES[crate] / "src"))
    assert [sorted("::".join(room) for room in circle) for circle in rust_imports.circles(rooms)] == []


@pytest.mark.parametrize("kind", CROSSING)
def test_each_kind_of_circle_is_seen(kind: str, tmp_path: Path) -> None:
    found = list(rust_imports.circles(rust_imports.imports(written(tmp_path, CROSSING[kind]))))
    assert len(found) == 1
    assert {module[0] for module in found[0]} == {"a", "b"}


@pytest.mark.parametrize("kind", PLAIN)
def test_what_is_no_circle_is_not_seen(kind: str, tmp_path: Path) -> None:
    assert list(rust_imports.circles(rust_imports.imports(written(tmp_path, PLAIN[kind])))) == []


@pytest.mark.parametrize("folder", [PYTHON, PAPERS], ids=lambda folder: folder.name)
def test_python_modules_do_not_import_each_other_in_a_circle(folder: Path) -> None:
    assert python_imports.circle(python_imports.imports(folder)) == []


def test_the_package_does_not_know_the_papers() -> None:
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
        assert names - {name} <= below | BASE, f"{name} may import what stands after it: {names - below - BASE}"
        below.add(name)


def test_no_python_package_is_called_like_a_public_name() -> None:
    inside = {name.split(".")[1] for name in python_imports.imports(PYTHON) if "." in name}
    assert inside & set(lightlag.__all__) == MODULES


@pytest.mark.parametrize("kind", PYTHON_CROSSING)
def test_each_kind_of_circle_in_python_is_seen(kind: str, tmp_path: Path) -> None:
    assert python_imports.circle(python_imports.imports(package(tmp_path, PYTHON_CROSSING[kind])))


@pytest.mark.parametrize("kind", PYTHON_PLAIN)
def test_what_is_no_circle_in_python_is_not_seen(kind: str, tmp_path: Path) -> None:
    assert python_imports.circle(python_imports.imports(package(tmp_path, PYTHON_PLAIN[kind]))) == []


def package(folder: Path, files: dict[str, str]) -> Path:
    """Writes the modules of a package ``p``, and returns its folder."""
    return written(folder / "p", {"__init__.py": "", **files})


def written(folder: Path, files: dict[str, str]) -> Path:
    """Writes files, and returns their folder."""
    for name, text in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return folder
