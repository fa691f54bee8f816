"""The package: what is exported, typed and imported."""

from __future__ import annotations

import importlib.metadata
import json
import subprocess
import sys
from pathlib import Path

import pytest

import lightlag as ll
from lightlag import _engine


def test_every_public_name_exists() -> None:
    for name in ll.__all__:
        assert getattr(ll, name) is not None
    assert set(ll.__all__) <= set(dir(ll))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = ll.nothing


HEAVY = ("polars", "matplotlib", "numpy", "rich", "typer")


def imported_after(code: str) -> set[str]:
    program = f"import sys\n{code}\nprint(*sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    return set(done.stdout.split())


def test_importing_lightlag_imports_nothing_heavy() -> None:
    assert imported_after("import lightlag").isdisjoint(HEAVY)


def test_running_and_writing_imports_no_frames_and_no_figures(pair_file: Path) -> None:
    code = f"import lightlag as ll; ll.run({str(pair_file)!r}).summary"
    assert imported_after(code).isdisjoint(HEAVY)
    cli = "from lightlag.cli.app import app\nfrom typer.testing import CliRunner\nimport os\n"
    cli += f"os.chdir({str(pair_file.parent)!r})"
    run = f"{cli}\nassert CliRunner().invoke(app, ['run', 'pair.toml', '-q']).exit_code == 0"
    assert imported_after(run).isdisjoint({"polars", "matplotlib", "numpy"})


def test_a_preset_alone_imports_no_classes_of_scenarios() -> None:
    imported = imported_after("import lightlag as ll; ll.run('geo', duration='1 s').summary")
    assert "lightlag.scenario.presets" in imported
    assert not {"lightlag.presets", "lightlag.scenario.tcp", "lightlag.scenario.topology"} & set(imported)


def test_the_package_is_typed_and_has_its_version() -> None:
    folder = Path(ll.__file__).parent
    assert (folder / "py.typed").is_file()
    assert (folder / "_engine.pyi").is_file()
    assert importlib.metadata.version("lightlag") == ll.__version__ == _engine.__version__


def test_the_metadata_has_the_search_terms() -> None:
    metadata = importlib.metadata.metadata("lightlag")
    assert metadata["License-Expression"] == "MIT"
    assert metadata["Requires-Python"] == ">=3.11"
    (script,) = [
        entry for entry in importlib.metadata.entry_points(group="console_scripts") if entry.name == "lightlag"
    ]
    assert script.value == "lightlag._start:main"


def test_errors_are_distinguished_by_type() -> None:
    assert issubclass(ll.ScenarioError, ValueError)
    assert issubclass(ll.InputError, ValueError)
    assert issubclass(ll.Interrupted, KeyboardInterrupt)


def test_the_catalog_of_the_engine_is_complete() -> None:
    catalog = json.loads(_engine.catalog())
    assert {entry["name"] for entry in catalog["congestion"]} >= {"newreno", "cubic", "hybla"}
    for entry in catalog["congestion"]:
        assert all(entry[key] for key in ("name", "about", "equations", "source")), entry["name"]
