"""The code blocks of the documentation, and how they run.

A page runs in a directory of its own, from its first block to its last, so that a block finds the files of earlier
blocks. The directory has the scenarios and examples of the repository, and `real.pcapng`, a capture of real hosts.
A block

- of `python` runs with the variables of earlier blocks;
- of `sh`, and an indented one that starts with a command, runs in a shell;
- of `console` has commands after `$`, and below each its output; `...` stands for any text;
- of `toml` is read as a scenario or a study, after `<!-- part of: PRESET -->` as a change to that preset, and after
  `<!-- part of: a medium of PRESET -->` as keys of its radio medium;
- of text after `<!-- output -->` is the output of the block of Python before it;
- whose first line is a comment with the name of a file is that file for the commands of the page.

`<!-- not run: REASON -->` before a block gives the reason. Its commands are still looked up.
"""

from __future__ import annotations

import io
import json
import os
import re
import runpy
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import lightlag as ll
from lightlag import _engine
from lightlag.scenario import read_scenario

ROOT = Path(__file__).parents[1]
UPDATE = "LIGHTLAG_UPDATE_PAGES"
"""Environment variable. If it is set, a run writes the output of commands into the page."""

MEDIUM = "a medium of "
COMMANDS = ("lightlag", "make", "cargo", "pip", "python", "source", "git")
MARK = re.compile(r"^<!-- (not run|part of|output)(?:: (.+))? -->$")
FILE = re.compile(r"# ([\w.-]+\.(?:toml|py|csv|txt|sh))$")
FENCE = re.compile(r"^(`{3,})(\S*)")


@dataclass
class Block:
    """A block of code on a page."""

    language: str
    text: str
    line: int
    """Line number of its first line, starting at 1."""
    not_run: str | None = None
    part_of: str | None = None
    output: bool = False
    """Whether the block is the output of the Python block before it."""

    @property
    def file(self) -> str | None:
        """The name of the file that the block contains."""
        found = FILE.match(self.text.split("\n", 1)[0])
        return found[1] if found and self.language in ("python", "toml", "csv") else None

    def commands(self) -> list[str]:
        """The commands of a block for a shell, without comments."""
        if self.language == "console":
            return [line[2:] for line in self.text.splitlines() if line.startswith("$ ")]
        if self.language not in ("sh", "bash"):
            return []
        joined = self.text.replace("\\\n", " ")
        lines = [re.sub(r"\s+#.*", "", line).strip() for line in joined.splitlines()]
        return [part.strip() for line in lines if line and not line.startswith("#") for part in line.split(";  ")]


def blocks(page: Path) -> list[Block]:
    """Returns the blocks of a page in their order."""
    lines = page.read_text("utf-8").splitlines()
    found = []
    for number, language, text in _raw(lines):
        before = number - 2
        while before >= 0 and not lines[before].strip():
            before -= 1
        mark = MARK.match(lines[before]) if before >= 0 else None
        block = Block(language, text, number)
        if mark:
            setattr(block, mark[1].replace(" ", "_"), mark[2] or True)
        found.append(block)
    return found


def _raw(lines: list[str]) -> Iterator[tuple[int, str, str]]:
    """Yields the line number, language and text of each block; the line is the fence, or the first indented line."""
    number = 0
    while number < len(lines):
        start, line = number, lines[number]
        number += 1
        if fence := FENCE.match(line):
            while number < len(lines) and lines[number] != fence[1]:
                if lines[number].startswith(fence[1]):
                    raise ValueError(f"line {number + 1}: a block starts inside the one of line {start + 1}")
                number += 1
            body = lines[start + 1 : number]
            number += 1
            yield start + 1, fence[2], "\n".join(body) + "\n"
        elif line.startswith("    ") and (start == 0 or not lines[start - 1].strip()):
            while number < len(lines) and (lines[number].startswith("    ") or not lines[number].strip()):
                number += 1
            text = "\n".join(line.removeprefix("    ") for line in lines[start:number]).rstrip() + "\n"
            yield start + 1, "sh" if text.split(maxsplit=1)[0] in COMMANDS else "text", text


@dataclass
class Ran:
    """A page that has run."""

    names: dict[str, Any] = field(default_factory=dict)
    """Variables that the Python blocks have set."""
    printed: str = ""
    """Output of the Python blocks."""
    last: str = ""
    """Output of the last Python block."""
    results: list[Any] = field(default_factory=list)
    """The values of `result` that the Python blocks have set, each listed once."""


def run(page: Path, folder: Path) -> Ran:
    """Runs the blocks of a page in a directory.

    Raises
    ------
    AssertionError
        If a command fails or its output differs; the message has the line of the block.
    """
    for shared in ("scenarios", "examples"):
        if not (folder / shared).exists():
            (folder / shared).symlink_to(ROOT / shared)
    shutil.copy(ROOT / "tests" / "data" / "captures" / "linux-cubic-sender.pcap", folder / "real.pcapng")
    ran, before = Ran(), Path.cwd()
    os.chdir(folder)
    sys.path.insert(0, str(folder))
    try:
        for block in blocks(page):
            if block.file:
                Path(block.file).write_text(block.text, "utf-8")
            if block.not_run is None:
                try:
                    _run(page, block, ran)
                except Exception as error:
                    raise AssertionError(f"{page.name}:{block.line}: {error}") from error
        if UPDATE in os.environ:
            _keep_images(page)
    finally:
        sys.path.remove(str(folder))
        for module in [name for name, value in sys.modules.items() if _is_in(value, folder)]:
            del sys.modules[module]
        os.chdir(before)
    return ran


def _keep_images(page: Path) -> None:
    """Copies the figures that the page has drawn: `cwnd.png` to `images/PAGE-cwnd.png`, if the page shows that."""
    for image in re.findall(rf"\]\((images/{page.stem}-[\w-]+\.png)\)", page.read_text("utf-8")):
        drawn = Path(Path(image).name.removeprefix(f"{page.stem}-"))
        if drawn.exists():
            (page.parent / image).write_bytes(drawn.read_bytes())


def _is_in(module: Any, folder: Path) -> bool:
    return folder in Path(getattr(module, "__file__", None) or "/").parents


def _run(page: Path, block: Block, ran: Ran) -> None:
    if block.language == "toml":
        check_table(block)
    elif block.language == "python" and not block.file:
        # In a file, as a class is whose source the digest of an algorithm needs.
        path = Path(f"block{block.line}.py")
        path.write_text(block.text, "utf-8")
        output = io.StringIO()
        with redirect_stdout(output):
            ran.names = runpy.run_path(str(path), ran.names)
        ran.last = output.getvalue()
        ran.printed += ran.last
        result = ran.names.get("result")
        ran.results += [] if result is None or any(result is one for one in ran.results) else [result]
    elif block.language in ("sh", "bash"):
        _shell(block.text)
    elif block.language == "console":
        _console(page, block)
    elif block.output and UPDATE in os.environ:
        head, new = "<!-- output -->\n```text\n", "\n".join(_tidy(ran.last)) + "\n"
        text = page.read_text("utf-8")
        # By its text: the blocks before it may have other lengths now.
        page.write_text(text.replace(f"{head}{block.text.lstrip()}```", f"{head}{new}```", 1), "utf-8")
    elif block.output and not _matches(_tidy(ran.last), block.text.splitlines()):
        raise AssertionError(f"Python prints\n{ran.last}\nrather than\n{block.text}")


def check_table(block: Block) -> None:
    """Reads a table as the scenario or the study that it is, or as a change to a preset."""
    table = tomllib.loads(block.text)
    if block.part_of:
        whole = json.loads(read_scenario(block.part_of.removeprefix(MEDIUM), []).json())
        change = {"media": [table]} if block.part_of.startswith(MEDIUM) else table
        _engine.parse(json.dumps(_merged(whole, change)), "json")
    elif "scenarios" in table or "axes" in table:
        ll.Study.of(table, Path.cwd(), "study").plan()
    else:
        _engine.parse(block.text, "toml")


def _merged(whole: Any, change: Any) -> Any:
    """Returns a table updated with the values of another one; in lists, the first elements are updated."""
    if isinstance(whole, dict) and isinstance(change, dict):
        return whole | {key: _merged(whole.get(key), value) for key, value in change.items()}
    if isinstance(whole, list) and isinstance(change, list) and change and isinstance(change[0], dict):
        pairs = zip(whole, change, strict=False)
        return [_merged(old, new) for old, new in pairs] + whole[len(change) :] + change[len(whole) :]
    return change


def _shell(text: str) -> str:
    tools = Path(".tools")
    tools.mkdir(exist_ok=True)
    program = tools / "lightlag"
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m lightlag "$@"\n')
    program.chmod(0o755)
    environment = os.environ | {
        "PATH": os.pathsep.join([str(tools.resolve()), str(Path(sys.executable).parent), os.environ["PATH"]]),
        "PYTHONPATH": os.pathsep.join([str(ROOT / "python"), os.environ.get("PYTHONPATH", "")]),
        "COLUMNS": "112",
        "MPLBACKEND": "agg",
        "NO_COLOR": "1",
        "TERM": "dumb",
    }
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", text],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
        env=environment,
        check=False,
    )
    if done.returncode:
        raise AssertionError(f"{text.strip()} exits with {done.returncode}:\n{done.stdout}")
    return done.stdout


def _console(page: Path, block: Block) -> None:
    """Runs each command of a block and compares its output, or writes it into the page."""
    shown: list[tuple[str, list[str]]] = []
    for line in block.text.splitlines():
        if line.startswith("$ "):
            shown.append((line[2:], []))
        else:
            shown[-1][1].append(line)
    written = []
    for command, expected in shown:
        output = _tidy(_shell(command))
        if UPDATE in os.environ:
            written += [f"$ {command}", *_for_page(output, expected)]
            continue
        if not _matches(output, expected):
            raise AssertionError(f"{command} prints\n" + "\n".join(output) + "\nrather than\n" + "\n".join(expected))
    if UPDATE in os.environ:
        text = page.read_text("utf-8")
        page.write_text(text.replace(block.text, "\n".join(written) + "\n"), "utf-8")


def _matches(output: list[str], expected: list[str]) -> bool:
    parts = re.split(r"(\.\.\.)", "\n".join(expected))
    pattern = "".join(".*" if part == "..." else re.escape(part) for part in parts)
    return re.fullmatch(pattern, "\n".join(output), re.DOTALL) is not None


def _tidy(output: str) -> list[str]:
    """The lines of an output without blanks at their ends and empty lines around them."""
    return [line.rstrip() for line in output.strip("\n").rstrip().splitlines()]


def _for_page(output: list[str], expected: list[str]) -> list[str]:
    """Returns the output as the page shows it: cut short by `...` where the page does so, and without times of this
    machine.
    """
    lines = [re.sub(r"simulated in [\d.e-]+ s", "simulated in ... s", line) for line in output]
    if expected and expected[-1] == "...":
        return [*lines[: len(expected) - 1], "..."]
    return lines
