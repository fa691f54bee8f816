"""The gallery: questions, each with its scenario, its commands, a figure, an answer and numbers.

A question is a file `docs/gallery/NAME.toml`:

`title`, `question`, `why`
    Texts; `why` describes what to notice.
`files`
    Files of `docs/gallery/scenarios` that the commands read. They appear on the page. Those in JSON are web pages of
    `python/lightlag/presets/pages`, which are too long for it.
`commands`
    Commands one after the other in one directory. The last one draws `NAME.png`.
`answer`
    A sentence with the names of numbers in braces, as `str.format` takes them.
`holds`
    Comparisons of numbers that must be true, or the answer is wrong.
`live`
    The scenario that runs in the page, if it is not the scenario of the first command.
`numbers`
    For each name a `column` or `measure`, a `unit`, the directory `results` if there are several, and conditions on
    other columns. A number is the mean over the rows that are left, of runs also over their flows. Or an expression of
    the numbers above it.

`python -m manual.gallery [NAME...]` runs the commands, writes figures and pages; tests/test_gallery.py runs them again.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import lightlag as ll

ROOT = Path(__file__).resolve().parents[2]
GALLERY = ROOT / "docs" / "gallery"
PAGES = ROOT / "python" / "lightlag" / "presets" / "pages"
UNITS = {"Mbit/s": 1e-6, "kbit/s": 1e-3, "s": 1.0, "ms": 1e3, "min": 1 / 60, "%": 100.0, "": 1.0}
NOT_CONDITIONS = ("column", "measure", "results", "unit")


@dataclass(frozen=True)
class Question:
    """A question of the gallery, with the contents of its file."""

    name: str
    title: str
    question: str
    why: str
    commands: list[str]
    answer: str
    holds: list[str]
    numbers: dict[str, dict[str, Any] | str]
    files: list[str]
    live: str | None = None

    def answered(self, values: dict[str, float]) -> str:
        """Returns the answer with its numbers filled in."""
        return " ".join(self.answer.format_map(values).split())

    def broken(self, values: dict[str, float]) -> list[str]:
        """The comparisons that do not hold."""
        return [claim for claim in self.holds if not calculated(claim, values)]


def questions() -> list[Question]:
    """Returns the questions in the order of the gallery."""
    order = json.loads((GALLERY / "order.json").read_text())
    return [read(GALLERY / f"{name}.toml") for name in order]


def read(path: Path) -> Question:
    """Reads the file of a question."""
    table = tomllib.loads(path.read_text("utf-8"))
    return Question(name=path.stem, files=table.pop("files", []), **table)


def measured(question: Question, folder: Path, *, drawing: bool = False) -> dict[str, float]:
    """Runs the commands of a question in a directory and returns its numbers."""
    for file in question.files:
        shutil.copy(source(file), folder / file)
    for command in question.commands:
        words = shlex.split(command)
        if words[:2] == ["lightlag", "plot"] and not drawing:
            continue
        if words[:2] == ["lightlag", "compare"]:
            words += ["--figures", "none"]
        program = {"lightlag": [sys.executable, "-m", "lightlag"], "python": [sys.executable]}[words[0]]
        environment = os.environ | {"PYTHONPATH": str(ROOT / "python"), "MPLBACKEND": "agg"}
        subprocess.run([*program, *words[1:]], cwd=folder, env=environment, stdout=subprocess.DEVNULL, check=True)
    values: dict[str, float] = {}
    for name, spec in question.numbers.items():
        values[name] = calculated(spec, values) if isinstance(spec, str) else number(folder, spec)
    return values


def source(file: str) -> Path:
    """Returns the path of a file that commands read."""
    return (PAGES if file.endswith(".json") else GALLERY / "scenarios") / file


def calculated(expression: str, values: dict[str, float]) -> Any:
    """Returns the value of an expression of known numbers."""
    return eval(expression, {"__builtins__": {}}, dict(values))


def number(folder: Path, spec: dict[str, Any]) -> float:
    """Returns the mean of a column of results over the rows that meet the conditions, in the unit of the number."""
    (single,) = [spec["results"]] if "results" in spec else [path.name for path in (folder / "results").iterdir()]
    results = folder / "results" / single
    if "measure" in spec:
        table, column = ll.load_comparison(results).summary.filter(measure=spec["measure"]), "mean"
    elif (results / "runs.parquet").exists():
        table, column = ll.load_comparison(results).flows, spec["column"]
    else:
        table, column = ll.load(results).flows, spec["column"]
    table = table.filter(**{key: value for key, value in spec.items() if key not in NOT_CONDITIONS})
    return float(table[column].mean()) * UNITS[spec["unit"]]  # type: ignore[arg-type]


def page(question: Question, values: dict[str, float]) -> str:
    """Returns the page of a question."""
    files = "".join(_listing(source(name)) for name in question.files if not name.endswith(".json"))
    commands = "\n".join(question.commands)
    return f"""\
# {question.title}

**{question.question}**

{question.why.strip()}
{files}
```sh
{commands}
```

![{question.title}](images/{question.name}.png)

**Answer.** {question.answered(values)}
"""


def _listing(file: Path) -> str:
    language = {".py": "python", ".toml": "toml"}[file.suffix]
    return f"\n```{language}\n# {file.name}\n{file.read_text('utf-8')}```\n"


def index(answers: dict[str, tuple[Question, str]]) -> str:
    """Returns the page of all questions."""
    rows = "\n".join(
        f"| [![{question.title}](images/{name}.png)]({name}.md) | **[{question.question}]({name}.md)** {answer} |"
        for name, (question, answer) in answers.items()
    )
    names = "\n".join(answers)
    return f"""\
# Gallery

Each question has its scenario, the commands, a figure and an answer. A test runs the commands again and compares the
numbers of the answers; `make gallery` regenerates every figure and page.

| | |
|---|---|
{rows}

```{{toctree}}
:hidden:

{names}
```
"""


def main(names: list[str]) -> None:
    """Runs the questions of these names, or all; writes their figures and pages, and the index."""
    answers = {}
    for question in questions():
        target = GALLERY / f"{question.name}.md"
        if not names or question.name in names:
            with tempfile.TemporaryDirectory() as folder:
                values = measured(question, Path(folder), drawing=True)
                if broken := question.broken(values):
                    sys.exit(f"{question.name}: {broken} do not hold: {values}")
                shutil.copy(Path(folder) / f"{question.name}.png", GALLERY / "images" / f"{question.name}.png")
                target.write_text(page(question, values), "utf-8")
        answers[question.name] = (question, target.read_text("utf-8").rpartition("**Answer.** ")[2].strip())
        print(f"{question.name}: {answers[question.name][1]}")
    (GALLERY / "index.md").write_text(index(answers), "utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
