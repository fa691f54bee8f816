"""Pages that are written before each build of the site; git ignores them."""

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
from manual import keys, objects

ROOT = Path(__file__).resolve().parents[2]
COPIES = {
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "examples/learning/learning.ipynb": "notebooks/learning.ipynb",
}


def write(docs: Path) -> None:
    """Writes the generated pages into the folder of the documentation."""
    for source, target in COPIES.items():
        shutil.copy(ROOT / source, docs / target)
    reference = docs / "reference"
    reference.mkdir(exist_ok=True)
    (reference / "scenario.md").write_text(keys.page(keys.Reference()), "utf-8")
    (reference / "comparisons.md").write_text(comparisons(), "utf-8")
    (reference / "json.md").write_text(objects.page(), "utf-8")
    (reference / "commands.md").write_text(commands(), "utf-8")
    (reference / "glossary.md").write_text(glossary(), "utf-8")


def comparisons() -> str:
    """Returns the page of the columns of comparisons and studies."""
    units = {measure.column: measure.unit for measure in MEASURES}
    kept = {"bit/s": "bit/s", "%": "share from 0 to 1", "ms": "s", "s": "s"}
    rows = "\n".join(
        f"| `{name}` | {kept.get(units.get(name, ''), '')} | {about[:1].upper()}{about[1:]}. |"
        for name, about in DICTIONARY.items()
    )
    return f"""\
# Columns of comparisons and studies

`runs` has a row a run, `flows` a row a flow of a run, `summary` a row a cell and measure. Variables are columns, too,
with the names of their keys; beside a quantity as text stands its number, in the unit that its name says: `queue` and
`queue_bdp`. `lightlag compare --json` has the rows of `summary` under the same names. The Parquet files have this
dictionary in them.

| column | unit | meaning |
|---|---|---|
{rows}
"""


def glossary() -> str:
    """Returns the page of the terms that ``lightlag explain`` knows beside keys and columns."""
    entries = [
        f"{one.name}\n: {one.text}" + (f" Also: {', '.join(one.also)}." if one.also else "")
        for one in sorted(_glossary.terms(), key=lambda one: one.name.lower())
    ]
    head = "# Glossary\n\nTerms of tables, reports and the field. `lightlag explain TERM` prints an entry.\n"
    return "\n\n".join([head, *entries]) + "\n"


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
    """The words of every command, those of groups with their group in front."""
    found = []
    for name, one in command.commands.items():
        inner = _words(one) if hasattr(one, "commands") else [[]]
        found += [[name, *words] for words in inner]
    return found
