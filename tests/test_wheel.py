"""The wheels of ``make wheel`` and ``make wheels``: whether they run where their names say, and what they hold."""

from __future__ import annotations

import email
import io
import os
import re
import struct
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[1]
TARGET = PROJECT / os.environ.get("CARGO_TARGET_DIR", "target")
WHEELS = sorted(Path(os.environ.get("WHEELS", TARGET / "wheels")).glob("lightlag-*.whl"))
PAPERS = sorted(Path(os.environ.get("WHEELS", TARGET / "wheels")).glob("lightlag_papers-*.whl"))

pytestmark = [pytest.mark.long, pytest.mark.skipif(not WHEELS, reason="there is no wheel; build one with make wheel")]


@pytest.fixture(params=WHEELS, ids=lambda wheel: wheel.name)
def wheel(request: pytest.FixtureRequest) -> Path:
    found: Path = request.param
    return found


def engine(wheel: Path) -> tuple[str, bytes]:
    """Returns the name and the bytes of the engine in a wheel."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.startswith("lightlag/_engine.") and name[-4:] != ".pyi")
        return name, archive.read(name)


def test_its_name_has_a_system_and_every_python(wheel: Path) -> None:
    systems = (
        r"manylinux_2_\d+_(?:x86_64|aarch64)|musllinux_1_2_(?:x86_64|aarch64)|win_amd64|macosx_\d+_\d+_(?:x86_64|arm64)"
    )
    # manylinux_2_17 and older also have their former name.
    assert re.search(rf"-cp311-abi3-(?:{systems})(?:\.manylinux\d+_\w+)?\.whl$", wheel.name), wheel.name


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="auditwheel supports only wheels for Linux")
def test_it_needs_no_newer_system_than_its_name_states(wheel: Path) -> None:
    named = re.search(r"-manylinux_(\d+)_(\d+)_(x86_64|aarch64)\.whl$", wheel.name)
    if named is None:
        pytest.skip("the wheel is for another system")
    command = [sys.executable, "-m", "auditwheel", "show", str(wheel)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    said = " ".join(done.stdout.split())
    needed = re.search(r'consistent with the following platform tag: "manylinux_(\d+)_(\d+)_(\w+)"', said)
    assert needed, said
    assert needed[3] == named[3]
    assert (int(needed[1]), int(needed[2])) <= (int(named[1]), int(named[2])), said


def test_an_engine_for_musl_needs_no_other_library(wheel: Path) -> None:
    machine = re.search(r"-musllinux_1_2_(x86_64|aarch64)\.whl$", wheel.name)
    if machine is None:
        pytest.skip("the wheel is for another system")
    elf = pytest.importorskip("elftools.elf.elffile").ELFFile(io.BytesIO(engine(wheel)[1]))
    assert elf["e_machine"] == {"x86_64": "EM_X86_64", "aarch64": "EM_AARCH64"}[machine[1]]
    dynamic = elf.get_section_by_name(".dynamic")
    assert {tag.needed for tag in dynamic.iter_tags("DT_NEEDED")} == {"libc.so"}
    assert b"GLIBC_" not in engine(wheel)[1]


def test_an_engine_for_windows_needs_libraries_of_windows_and_python(wheel: Path) -> None:
    if not wheel.name.endswith("-win_amd64.whl"):
        pytest.skip("the wheel is for another system")
    name, code = engine(wheel)
    assert name == "lightlag/_engine.pyd"
    header = int.from_bytes(code[0x3C:0x40], "little")
    assert (code[:2], code[header : header + 6]) == (b"MZ", b"PE\0\0\x64\x86")
    libraries = {found.decode().lower() for found in re.findall(rb"[\w.-]+\.dll(?=\0)", code)} - {"_engine.dll"}
    own = re.compile(
        r"(api-ms-win-[\w-]+|advapi32|bcryptprimitives|kernel32|kernelbase|ntdll|python3|ws2_32|userenv|msvcrt)\.dll"
    )
    assert [library for library in sorted(libraries) if not own.fullmatch(library)] == []
    assert "python3.dll" in libraries


def test_an_engine_for_macos_needs_libraries_of_the_system(wheel: Path) -> None:
    machine = re.search(r"-macosx_\d+_\d+_(x86_64|arm64)\.whl$", wheel.name)
    if machine is None:
        pytest.skip("the wheel is for another system")
    name, code = engine(wheel)
    assert name == "lightlag/_engine.abi3.so"
    magic, processor, _, _, commands, _, _, _ = struct.unpack_from("<8I", code)
    assert (magic, processor) == (0xFEEDFACF, {"x86_64": 0x01000007, "arm64": 0x0100000C}[machine[1]])
    libraries, at = [], 32
    for _ in range(commands):
        kind, size = struct.unpack_from("<2I", code, at)
        if kind == 0xC:  # LC_LOAD_DYLIB
            start = at + struct.unpack_from("<I", code, at + 8)[0]
            libraries.append(code[start : code.index(b"\0", start)].decode())
        at += size
    assert libraries
    assert [path for path in libraries if not path.startswith(("/usr/lib/", "/System/Library/"))] == []


def test_it_holds_the_package_and_its_types_and_nothing_else(wheel: Path) -> None:
    python = PROJECT / "python"
    files = (path for path in python.rglob("*") if path.is_file() and path.suffix not in (".pyc", ".so", ".pyd"))
    own = {str(path.relative_to(python)) for path in files}
    with zipfile.ZipFile(wheel) as archive:
        held = set(archive.namelist())
    assert own <= held, own - held
    rest = {name for name in held - own if ".dist-info/" not in name}
    assert rest == {engine(wheel)[0]}
    assert {"lightlag/py.typed", "lightlag/_engine.pyi"} <= held


def test_its_metadata_say_what_pip_shows(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        (about,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        metadata = email.message_from_bytes(archive.read(about))
        entries = archive.read(about.replace("METADATA", "entry_points.txt")).decode()
        licence = archive.read(about.replace("METADATA", f"licenses/{metadata['License-File']}")).decode()
    assert (metadata["Name"], metadata["License-Expression"]) == ("lightlag", "MIT")
    assert metadata["Requires-Python"] == ">=3.11"
    assert metadata["Version"] == wheel.name.split("-")[1]
    assert metadata["Summary"]
    assert "Typing :: Typed" in metadata.get_all("Classifier", [])
    assert any(line.startswith("starlette") for line in metadata.get_all("Requires-Dist", []))
    assert {"study", "cluster", "numba", "pandas", "gym", "papers"} <= set(metadata.get_all("Provides-Extra", []))
    assert licence == (PROJECT / "LICENSE").read_text("utf-8")
    assert "lightlag=lightlag._start:main" in entries.replace(" ", "")


@pytest.mark.skipif(not PAPERS, reason="there is no wheel of the papers; build one with make wheel")
def test_the_papers_have_a_wheel_of_their_own() -> None:
    (wheel,) = PAPERS
    papers = PROJECT / "papers"
    files = (path for path in papers.rglob("lightlag_papers/**/*") if path.is_file() and path.suffix != ".pyc")
    with zipfile.ZipFile(wheel) as archive:
        held = {name for name in archive.namelist() if ".dist-info/" not in name}
        (about,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        metadata = email.message_from_bytes(archive.read(about))
        licence = archive.read(about.replace("METADATA", "licenses/LICENSE")).decode()
    assert held == {str(path.relative_to(papers)) for path in files}
    assert wheel.name == f"lightlag_papers-{metadata['Version']}-py3-none-any.whl"
    assert metadata["Requires-Dist"] == f"lightlag=={metadata['Version']}"
    assert licence == (PROJECT / "LICENSE").read_text("utf-8")
