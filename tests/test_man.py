"""Manual pages: complete, and clean for groff."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from lightlag.cli import man
from lightlag.cli.app import app
from lightlag.cli.completion import complete


def every_command(found: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yields all commands, each with the words that call it."""
    yield path, found
    for name in getattr(found, "commands", {}):
        yield from every_command(found.commands[name], (*path, name))


def test_there_is_a_page_for_each_command_with_its_options() -> None:
    pages = man.pages()
    assert {"lightlag", "lightlag-run", "lightlag-study-add", "lightlag-import"} <= pages.keys()
    assert r"\fB\-\-duration\fR, \fB\-d\fR \fITIME\fR" in pages["lightlag-run"]
    assert all("\b" not in page and "\\b" not in page for page in pages.values())
    assert all(page.isascii() for page in pages.values())


def test_every_option_of_every_command_is_on_its_page_and_offered() -> None:
    pages = man.pages()
    for path, command in every_command(get_command(app)):
        page = pages["-".join(["lightlag", *path])].replace("\\-", "-")
        options = [one for one in command.params if one.param_type_name == "option"]
        offered = {word for word, _ in complete([*path], "--")}
        for one in options:
            names = [*one.opts, *one.secondary_opts]
            assert all(rf"\fB{name}\fR" in page for name in names), (path, one.name)
            assert {name for name in names if name.startswith("--")} <= offered, (path, one.name)
    assert r"\fB\-\-style\fR \fISTYLE\fR" in pages["lightlag-inspect"]


@pytest.mark.skipif(shutil.which("groff") is None, reason="no groff")
def test_groff_has_nothing_to_say(tmp_path: Path) -> None:
    for path in man.write(tmp_path):
        done = subprocess.run(["groff", "-ww", "-man", "-Tutf8", path], capture_output=True, text=True, check=True)
        assert done.stderr == "", path.name
        assert path.stem.split("-")[0] in done.stdout
