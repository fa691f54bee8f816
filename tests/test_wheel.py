"""The wheels of ``make wheel`` and ``make wheels``: whether they run where their names say, and what they hold."""

from __future__ import annotations

import email
import os
import re
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


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="auditwheel supports only wheels for Linux")
def test_it_needs_no_newer_system_than_its_name_states(wheel: Path) -> None:
    named = re.search(r"-cp311-abi3-.*manylinux_(\d+)_(\d+)_(x86_64|aarch64)\.whl$", wheel.name)
    assert named, f"{wheel.name} is for no manylinux, or not for every Python from 3.11 on"
    command = [sys.executable, "-m", "auditwheel", "show", str(wheel)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    said = " ".join(done.stdout.split())
    needed = re.search(r'consistent with the following platform tag: "manylinux_(\d+)_(\d+)_(\w+)"', said)
    assert needed, said
    assert needed[3] == named[3]
    assert (int(needed[1]), int(needed[2])) <= (int(named[1]), int(named[2])), said


def test_it_holds_the_package_and_its_types_and_nothing_else(wheel: Path) -> None:
    python = PROJECT / "python"
    files = (path for path in python.rglob("*") if path.is_file() and path.suffix not in (".pyc", ".so"))
    own = {str(path.relative_to(python)) for path in files}
    with zipfile.ZipFile(wheel) as archive:
        held = set(archive.namelist())
    assert own <= held, own - held
    rest = {name for name in held - own if ".dist-info/" not in name}
    assert rest == {"lightlag/_engine.abi3.so"}
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
