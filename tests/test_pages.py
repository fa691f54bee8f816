"""Every code block of the documentation runs, and everything that it names exists."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import typer

import lightlag as ll
import manual.pages
import pages
from lightlag.cli.app import app
from lightlag.words.explain import presets

pytestmark = pytest.mark.long

ROOT = pages.ROOT
DOCS = sorted(
    path for path in (ROOT / "docs").rglob("*.md") if path.relative_to(ROOT / "docs").parts[0] not in ("gallery", "api")
)
GENERATED = tuple(manual.pages.COPIES.values())
EVERY = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *(path for path in DOCS if path.name not in GENERATED and "reference" not in path.parts),
]
ELSEWHERE = ("README.md", "tour.md", "constellations.md", "figures.md", "swarms.md")
"""Pages with a test of their own, which also checks their results."""
LANGUAGES = {
    *("", "bash", "c", "console", "cpp", "csv", "ini", "json", "none", "python", "rust", "sh", "text", "toml"),
    *("{eval-rst}", "{include}", "{toctree}"),
}
MOST_NOT_RUN = 32
EXAMPLES = {"custom-algorithms.md": (7, "aimd.pdf"), "learning.md": (3, "learned.pdf")}
"""Number of results that the examples of a page create, and a figure that they draw."""
PAGES = [path for path in EVERY if path.name not in ELSEWHERE and pages.blocks(path)]
BLOCKS = [(path, block) for path in EVERY for block in pages.blocks(path)]


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_a_page_runs(page: Path, tmp_path: Path) -> None:
    ran = pages.run(page, tmp_path)
    examples, figure = EXAMPLES.get(page.name, (0, None))
    assert len(ran.results) >= examples
    assert all(result.flows["delivered_bytes"].sum() > 0 for result in ran.results if hasattr(result, "flows"))
    assert figure is None or (tmp_path / figure).stat().st_size > 1000
    if page.name == "studies.md":
        assert ll.open_study(tmp_path / "results" / "loss").runs.collect().height >= 18 * 10


def test_blocks_that_do_not_run_are_few_and_say_why() -> None:
    reasons = [block.not_run for _, block in BLOCKS if block.not_run]
    assert len(reasons) <= MOST_NOT_RUN
    assert all(len(reason.split()) >= 2 for reason in reasons)


def test_blocks_have_languages_that_run_or_are_plain_text() -> None:
    wrong = [
        f"{name(path)}:{block.line}: {block.language}" for path, block in BLOCKS if block.language not in LANGUAGES
    ]
    wrong += [
        f"{name(path)}:{block.line}: a command in a block of text"
        for path, block in BLOCKS
        if block.language in ("", "none", "text")
        and re.search(r"^(\$ )?(lightlag|make|pip) ", block.text, re.MULTILINE)
    ]
    assert not wrong


COMMANDS = sorted({(command, name(path)) for path, block in BLOCKS for command in block.commands()})


@pytest.mark.parametrize(("command", "page"), [pair for pair in COMMANDS if pair[0].startswith("lightlag ")])
def test_commands_are_there_with_their_options(command: str, page: str) -> None:
    _, called, *words = shlex.split(re.split(r"\s[|>&]", command)[0])
    if called.startswith("-"):
        return
    found: Any = typer.main.get_command(app)
    assert called in found.commands, command
    found = found.commands[called]
    while hasattr(found, "commands"):
        assert words[0] in found.commands, command
        found = found.commands[words.pop(0)]
    known = {"--help", *(option for parameter in found.params for option in parameter.opts)}
    used = {word.split("=")[0] for word in words if re.match(r"--?[a-z]", word)}
    assert used <= known, f"{page}: {command}: {used - known}"
    if called == "run":
        assert words[0] in presets() or (ROOT / words[0]).exists() or words[0].endswith(".toml"), command


def test_targets_of_make_are_there() -> None:
    text = (ROOT / "Makefile").read_text()
    targets = set(re.findall(r"^([\w-]+):", text, re.MULTILINE))
    used = {command.split()[1] for command, _ in COMMANDS if command.startswith("make ")}
    missing = {target for target in used if target not in targets and not target.startswith(("target/", "PYTHON="))}
    assert not missing


def test_each_target_of_make_is_described() -> None:
    text = (ROOT / "Makefile").read_text()
    helped = set(re.findall(r"^([a-z-]+):.*## ", text, re.MULTILINE))
    assert helped == {"demo", "test", "bench", "studio", "docs", "site", "clean"}
    listed = re.search(
        r"^## Targets$(.*?)^## ", (ROOT / "CONTRIBUTING.md").read_text("utf-8"), re.DOTALL | re.MULTILINE
    )
    assert listed is not None
    described = {
        name
        for row in re.findall(r"^\| (`[^|]*) \|", listed[1], re.MULTILINE)
        for name in re.findall(r"`([a-z-]+)`", row)
    }
    # The targets after "environment" only look for programs of the machine.
    public = text.partition("\n.PHONY: tools ")[0]
    targets = {name for line in re.findall(r"^\.PHONY: (.*)$", public, re.MULTILINE) for name in line.split()}
    assert described == targets - helped - {"help"}


def test_links_and_images_lead_to_files() -> None:
    missing = []
    for page in [*EVERY, *(ROOT / "docs" / "gallery").glob("*.md")]:
        text = re.sub(r"^```.*?^```", "", page.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)
        for target in re.findall(r"\]\(([^)#\s]+)", re.sub(r"`[^`\n]*`", "", text)):
            there = "://" in target or target.startswith("mailto:") or (page.parent / target).exists()
            if not there and Path(target).parts[0] not in ("reference", "..") and target not in GENERATED:
                missing.append(f"{name(page)}: {target}")
    assert not missing
