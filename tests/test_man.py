"""Manual pages: complete, and clean for groff."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from lightlag import _man


def test_there_is_a_page_for_each_command_with_its_options() -> None:
    pages = _man.pages()
    assert {"lightlag", "lightlag-run", "lightlag-study-add", "lightlag-import"} <= pages.keys()
    assert r"\fB\-\-duration\fR, \fB\-d\fR \fITIME\fR" in pages["lightlag-run"]
    assert all("\b" not in page and "\\b" not in page for page in pages.values())
    assert all(page.isascii() for page in pages.values())


@pytest.mark.skipif(shutil.which("groff") is None, reason="no groff")
def test_groff_has_nothing_to_say(tmp_path: Path) -> None:
    for path in _man.write(tmp_path):
        done = subprocess.run(["groff", "-ww", "-man", "-Tutf8", path], capture_output=True, text=True, check=True)
        assert done.stderr == "", path.name
        assert path.stem.split("-")[0] in done.stdout
