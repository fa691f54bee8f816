"""The imports between crates are those in `docs/architecture.md`, and there are no import cycles between files."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

import rust_identifiers
import rust_imports

ROOT = Path(__file__).parents[1]
CRATES = {
    **{folder.name.removeprefix("lightlag-"): folder for folder in sorted((ROOT / "crates").iterdir())},
    **{folder.name: folder for folder in sorted((ROOT / "tools").iterdir())},
}
"""The directory of each crate; the crates of tools are not part of the package."""

IMPORTS: dict[str, set[str]] = {
    "core": set(),
    "net": {"core"},
    "control": {"core"},
    "plugin": set(),
    "traffic": {"core"},
    "custom": {"core", "net", "control", "plugin", "scenario", "traffic"},
    "transport": {"core", "control"},
    "tcp": {"core", "control", "transport"},
    "quic": {"core", "control", "transport"},
    "mobility": {"core", "net"},
    "orbit": {"core", "mobility", "net"},
    "wifi": {"core", "mobility", "net"},
    "access": {"core", "net"},
    "routing": {"core", "mobility", "net"},
    "wire": {"core", "net", "quic", "routing", "tcp"},
    "host": {"core", "control", "tcp", "wire"},
    "scenario": {
        *("core", "net", "control", "tcp", "quic", "mobility", "orbit", "wifi", "access", "routing", "traffic", "wire"),
    },
    "sim": {
        *("core", "net", "control", "transport", "tcp", "mobility", "orbit", "wifi", "routing", "traffic", "wire"),
        *("access", "scenario", "quic"),
    },
    "gym": {"core", "scenario", "sim"},
    "analysis": set(),
    "live": {"core", "net", "control", "tcp", "wire", "host", "scenario", "sim"},
    "packetdrill": {"core", "control", "tcp", "host"},
    "preload": set(),
    "quic-judge": {"core", "control", "quic"},
    "quic-peer": set(),
    "web": {"analysis", "core", "net", "control", "tcp", "mobility", "orbit", "wire", "scenario", "sim"},
    "python": {
        *("core", "net", "control", "tcp", "mobility", "orbit", "routing", "traffic", "wire", "host"),
        *("scenario", "sim", "gym", "live", "custom", "plugin", "web", "analysis"),
    },
}
"""The crates, each with those that it may import."""

CIRCLES = [
    {"control::congestion::cubic", "control::congestion::registry"},
    {"mobility::models::group", "mobility::models::motion", "mobility::models::registry"},
    {"net::queue::drop_tail", "net::queue::registry"},
]
"""Files that may import each other: a registry, and an entry of it that is based on another entry."""

TCP_IN_SIM = {"body", "builder", "hosts::tcp", "results::holes", "tap::capture"}
"""The modules of `sim` that may name `lightlag_tcp`. They contain its registration and what only TCP has, the form of
its packets, the construction of its endpoints, and captures and results of TCP alone. All others use the traits of
`lightlag_transport`.
"""

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
"""Crates in which `a` and `b` import each other, one for each way to write the imports."""

PLAIN = {
    "a re-export alone": {
        "lib.rs": "mod a; mod b;",
        "a.rs": "pub use crate::b::B; pub struct A;",
        "b.rs": "use crate::a::A; pub struct B;",
    },
    "a child that imports its parent": {
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
        "a.rs": '//! Like [`crate::b::B`].\nconst T: &str = "crate::b::B"; pub struct A;',
        "b.rs": "use crate::a::A; pub struct B;",
    },
}
"""Crates without an import cycle."""


def test_crates_import_only_what_the_diagram_shows() -> None:
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


def test_sim_names_tcp_only_where_it_means_tcp() -> None:
    found = rust_imports.naming(CRATES["sim"] / "src", "lightlag_tcp")
    assert {"::".join(module) for module in found} == TCP_IN_SIM


def test_only_code_outside_of_tests_names_a_crate(tmp_path: Path) -> None:
    files = {
        "lib.rs": "mod a; mod b; mod c;",
        "a.rs": "use lightlag_tcp::Connection;",
        "b.rs": "//! Not lightlag_tcp.\n#[cfg(test)]\nmod tests { use lightlag_tcp::Connection; }",
        "c.rs": "fn f() { lightlag_tcp::g() }",
    }
    assert rust_imports.naming(written(tmp_path, files), "lightlag_tcp") == {("a",), ("c",)}


@pytest.mark.parametrize("crate", CRATES)
def test_no_modules_of_a_crate_import_each_other_in_a_circle(crate: str) -> None:
    rooms = rust_imports.of_rooms(rust_imports.imports(CRATES[crate] / "src"))
    assert [sorted("::".join(room) for room in circle) for circle in rust_imports.circles(rooms)] == []


def test_the_simulator_names_the_kind_of_a_medium_only_where_kinds_differ() -> None:
    source = CRATES["sim"] / "src"

    def naming(crate: str) -> set[str]:
        return {str(file.relative_to(source)) for file in source.rglob("*.rs") if crate in file.read_text("utf-8")}

    assert naming("lightlag_wifi") == {"media/any.rs", "media/capture/wifi.rs", "results/interfaces/wifi.rs"}
    assert naming("lightlag_access") == {"media/any.rs", "results/interfaces/access.rs"}


@pytest.mark.parametrize("crate", ["net", "wifi", "routing", "sim"])
def test_no_bare_number_identifies_a_flow_a_link_a_node_a_station_or_an_interface(crate: str) -> None:
    assert list(rust_identifiers.bare_parameters(CRATES[crate] / "src")) == []


def test_bare_numbers_that_identify_a_part_are_seen(tmp_path: Path) -> None:
    lib = """
        pub fn named(link: LinkId, nodes: usize, size: u32) {}
        pub(crate) fn bare<T>(of: (T, T), station: usize) -> u32 { 0 }
        fn borrowed(node: &u32) {}
        // fn comment(link: u32) {}
        #[cfg(test)]
        mod tests { fn tested(link: u32) {} }
    """
    source = written(tmp_path, {"lib.rs": lib, "a/tests.rs": "fn tested(link: u32) {}"})
    assert list(rust_identifiers.bare_parameters(source)) == ["lib.rs: bare(station)", "lib.rs: borrowed(node)"]


@pytest.mark.parametrize("kind", CROSSING)
def test_each_kind_of_circle_is_seen(kind: str, tmp_path: Path) -> None:
    found = list(rust_imports.circles(rust_imports.imports(written(tmp_path, CROSSING[kind]))))
    assert len(found) == 1
    assert {module[0] for module in found[0]} == {"a", "b"}


@pytest.mark.parametrize("kind", PLAIN)
def test_acyclic_imports_are_not_reported(kind: str, tmp_path: Path) -> None:
    assert list(rust_imports.circles(rust_imports.imports(written(tmp_path, PLAIN[kind])))) == []


def written(folder: Path, files: dict[str, str]) -> Path:
    """Writes the files of a crate, and returns its source directory."""
    for name, text in files.items():
        file = folder / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
    return folder
