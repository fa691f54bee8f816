"""The notebooks of the documentation run, and print what they show."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

nbclient = pytest.importorskip("nbclient")
nbformat = pytest.importorskip("nbformat")

pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "docs" / "notebooks"
NOTEBOOKS = [FOLDER / f"{name}.ipynb" for name in ("first-steps", "comparison", "constellation")]
UPDATE = "LIGHTLAG_UPDATE_PAGES"
MOST_BYTES = 250_000


def executed(path: Path, folder: Path) -> Any:
    notebook = nbformat.read(path, as_version=4)
    nbclient.NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(folder)}}).execute()
    return notebook


def printed(notebook: Any) -> list[str]:
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    return [output.text for output in outputs if output.output_type == "stream" and output.name == "stdout"]


@pytest.mark.filterwarnings("default")  # warnings of the packages that talk to a kernel
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_prints_what_it_shows(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT / "python"), os.environ.get("PYTHONPATH", "")]))
    kept, new = nbformat.read(path, as_version=4), executed(path, tmp_path)
    if UPDATE in os.environ:
        for cell in new.cells:
            cell.metadata.pop("execution", None)
        nbformat.write(new, path)
        return
    assert printed(new) == printed(kept) != []


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_light(path: Path) -> None:
    assert path.stat().st_size < MOST_BYTES
