"""Pages that are written before each build of the site; git ignores all of them except the glossary."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import typer
from typer.testing import CliRunner

from lightlag.cli.app import app
from lightlag.outcomes.design import MEASURES
from lightlag.study.tables import DICTIONARY
from lightlag.words import glossary as _glossary
from manual import algorithms, keys, objects

ROOT = Path(__file__).resolve().parents[2]
COPIES = {
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "examples/learning/learning.ipynb": "notebooks/learning.ipynb",
}


def write(docs: Path) -> None:
    """Writes the generated pages into the directory of the documentation."""
    for source, target in COPIES.items():
        shutil.copy(ROOT / source, docs / target)
    reference = docs / "reference"
    reference.mkdir(exist_ok=True)
    found = keys.Reference()
    (reference / "scenario.md").write_text(keys.overview(found), "utf-8")
    (reference / "scenario").mkdir(exist_ok=True)
    for name, text in keys.pages(found).items():
        (reference / "scenario" / f"{name}.md").write_text(text, "utf-8")
    (reference / "comparisons.md").write_text(comparisons(), "utf-8")
    (reference / "json.md").write_text(objects.page(), "utf-8")
    (reference / "commands.md").write_text(commands(), "utf-8")
    (docs / "glossary.md").write_text(glossary(), "utf-8")
    folder = reference / "algorithms"
    folder.mkdir(exist_ok=True)
    entries = algorithms.catalog()
    for entry in entries:
        (folder / f"{algorithms.file_name(entry['name'])}.md").write_text(algorithms.page(entry), "utf-8")
    (folder / "overview.txt").write_text(algorithms.overview(entries), "utf-8")


def comparisons() -> str:
    """Returns the page of the columns of comparisons and studies."""
    units = {measure.column: measure.unit for measure in MEASURES}
    kept = {"bit/s": "bit/s", "%": "fraction, 0 to 1", "ms": "s", "s": "s"}
    rows = "\n".join(
        f"| `{name}` | {kept.get(units.get(name, ''), '')} | {about[:1].upper()}{about[1:]}. |"
        for name, about in DICTIONARY.items()
    )
    return f"""\
# Columns of comparisons and studies

`runs` has one row per run, `flows` one row per flow of each run, and `summary` one row per cell and metric. Each
variable is also a column, with the name of its key. A quantity that is stored as text has a second column with its
number; the name of this column ends with the unit: `queue` and `queue_bdp`. `lightlag compare --json` prints the rows
of `summary` with the same names, and the [conclusion](../commands/compare.md#the-conclusion). The Parquet files contain
this dictionary.

| column | unit | meaning |
|---|---|---|
{rows}
"""


def glossary() -> str:
    """Returns the page of the terms that ``lightlag explain`` defines in addition to keys and columns."""
    entries = [
        f"{one.name}\n: {one.text}" + (f" Also: {', '.join(one.also)}." if one.also else "")
        for one in sorted(_glossary.terms(), key=lambda one: one.name.lower())
    ]
    head = """\
# Glossary

Terms of lightlag, of its tables and reports, and of the field. `lightlag explain TERM` prints an entry.
[Results](results.md) and the [keys of a scenario](reference/scenario.md) define columns and keys;
[architecture](architecture.md#glossary) the terms of the source code.
"""
    labels: dict[str, list[str]] = {}
    for label in _glossary.labels():
        labels.setdefault(label.of, []).append(f"{', '.join(label.names)}\n: {label.text}")
    tables = [part for of, parts in labels.items() for part in (f"### {of[:1].upper()}{of[1:]}", *parts)]
    return "\n\n".join([head.rstrip(), *entries, "## Labels of tables", *tables]) + "\n"


def commands() -> str:
    """Returns the page of the commands: the help of each of them."""
    found: Any = typer.main.get_command(app)
    sections = [f"## lightlag {' '.join(words)}\n\n```text\n{help_of(words)}\n```\n" for words in _words(found)]
    head = "# Commands\n\nThe help of every command, as `lightlag COMMAND --help` prints it.\n"
    return "\n".join([head, *sections])


def help_of(words: list[str]) -> str:
    """Returns the help of a command, 100 columns wide."""
    environment = {"COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb"}
    return CliRunner().invoke(app, [*words, "--help"], prog_name="lightlag", env=environment).output.rstrip()


def _words(command: Any) -> list[list[str]]:
    """Returns the words of each command; a command of a group starts group, the words of the group."""
    found = []
    for name, one in command.commands.items():
        inner = _words(one) if hasattr(one, "commands") else [[]]
        found += [[name, *words] for words in inner]
    return found
