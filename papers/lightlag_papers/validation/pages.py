"""The pages of ``docs/validation``, and the index ``docs/validation.md`` of them.

Each command writes its own pages. All pages have the same head, from which the index takes their titles and results.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from lightlag import _engine
from lightlag.errors import InputError
from lightlag.files.output import new_file
from lightlag_papers.table import markdown_table

FOLDER = Path("docs/validation")
"""The folder of the pages in the repository."""

NAMES = ("closed-forms", "algorithms", "kernel", "interoperability", "packet-scripts")
"""The pages in the order of the index; the papers follow in theirs."""

INTRODUCTION = """\
# Validation

These pages show how far lightlag can be trusted. Each one compares it with closed forms, with a paper, with the
kernel's TCP or with the packet scripts that the kernel's developers use. The command beside a page writes it; nobody
edits it by hand. A deviation that is too large stays in its table. Besides, every run checks that packets are
conserved: sent = delivered + dropped + in flight.
`lightlag validate congestion NAME` judges one algorithm, and writes a page of its own.
"""

VERDICTS = """\
## Verdicts on papers

A *claim* is something that a paper prints: a number, an order, a shape in words. It is *reproduced* if it lies inside
its band and *not reproduced* outside, with the reason shown. It *cannot be judged* where the paper contradicts itself
or leaves open a setting that decides. A row whose paper column is empty is not a claim. It is an *own check* against a
closed form, a model or another simulator, which *holds* or *does not hold* and is counted separately; or it is there
for information.

Where a paper leaves a setting open, each of its values is a *reading*. A claim is counted once, however many readings
there are: a reading is judged by all of its claims, the page starts with the one that reproduces most, and the rows are
its rows. No claim takes a reading of its own.

Bands have two sides unless the paper itself prints a limit, and the origin of a band stands beside it. *As printed*:
the paper's words are the criterion. *Set beforehand*: the band comes from the scatter of a model of the same
experiment, and was written down before the simulator first ran it. A paper shows one run or the mean of ten, so a band
is as wide as runs differ. No result moves a band.
"""

IN_TESTS = (
    (
        "M/D/1 and M/D/1/K: waiting time and loss of a queue with Poisson arrivals",
        "`cargo test -p lightlag-net --test md1`",
    ),
    ("RTT and RTO vectors of RFC 6298 (single samples, floors, back-off)", "`cargo test -p lightlag-control rtt`"),
    (
        "Mathis, CUBIC's response function, window / RTT, growth per round trip",
        "`cargo test -p lightlag-sim --test closed_form`",
    ),
    ("CUBIC's vectors: K, W(t), fast convergence, every variant", "`cargo test -p lightlag-control cubic`"),
    ("Hybla's vectors: ρ, slow start, avoidance", "`cargo test -p lightlag-control hybla`"),
    ("the SACK option byte by byte", "`cargo test -p lightlag-tcp --test sack_option`"),
    (
        "conservation of packets over random topologies, losses and sizes",
        "`cargo test -p lightlag-sim --test conservation`",
    ),
    ("the same seed gives the same hash", "`cargo test -p lightlag-sim --test determinism`"),
)

_HEAD = re.compile(r"# (?P<title>.+)\n\n\*\*(?P<result>.+)\*\*\n\nWritten by `(?P<command>[^`]+)`, version [^ ]+\.\n")


@dataclass(frozen=True)
class Page:
    """A page without its figures.

    Attributes
    ----------
    title
        Its heading.
    result
        One line for the index: how much of it holds.
    command
        The command that writes it.
    body
        Markdown below the head.

    Examples
    --------
    >>> print(Page("Closed forms", "2 of 2 hold.", "lightlag validate tcp", "| a |").text())  # doctest: +ELLIPSIS
    # Closed forms
    <BLANKLINE>
    **2 of 2 hold.**
    <BLANKLINE>
    Written by `lightlag validate tcp`, version ....
    <BLANKLINE>
    | a |
    """

    title: str
    result: str
    command: str
    body: str

    def text(self) -> str:
        """The page as Markdown."""
        head = f"# {self.title}\n\n**{self.result}**\n\nWritten by `{self.command}`, version {_engine.__version__}.\n"
        body = re.sub(r"\n{3,}", "\n\n", self.body.strip())
        return f"{head}\n{body}\n"


def check_folder(folder: Path) -> None:
    """Refuses a folder for pages before anything is measured.

    Raises
    ------
    InputError
        If it cannot be made.
    """
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder}: is a file; name a folder for the pages with --out")
    if not folder.parent.is_dir():
        raise InputError(f"{folder}: there is no folder {folder.parent}; make it, or name another one with --out")


def write(folder: Path, pages: Mapping[str, Page]) -> None:
    """Write pages by name, and the index anew. Pages of other commands stay."""
    check_folder(folder)
    folder.mkdir(exist_ok=True)
    for name, page in pages.items():
        with new_file(folder / f"{name}.md") as partial:
            partial.write_text(page.text(), "utf-8")
    with new_file(index_of(folder)) as partial:
        partial.write_text(index(folder), "utf-8")


def index_of(folder: Path) -> Path:
    """The path of the index: beside the folder, under its name.

    Examples
    --------
    >>> index_of(FOLDER).as_posix()
    'docs/validation.md'
    """
    return folder.parent / f"{folder.name}.md"


def index(folder: Path) -> str:
    """The index of the pages that are in a folder.

    Raises
    ------
    InputError
        If one of them does not have the head of a page.
    """
    from lightlag_papers import PAPERS

    rows = []
    for name in (*NAMES, *PAPERS):
        path = folder / f"{name}.md"
        if not path.exists():
            continue
        head = _HEAD.match(path.read_text("utf-8"))
        if head is None:
            raise InputError(f"{path}: does not start as a page of the validation does; write it again")
        rows.append((f"[{head['title']}]({folder.name}/{path.name})", head["result"], f"`{head['command']}`"))
    parts = [
        INTRODUCTION,
        markdown_table(("page", "result", "written by"), rows),
        VERDICTS,
        "## Tests that judge\n\nThese comparisons are tests; `make test-all` runs them.\n",
        markdown_table(("comparison", "command"), IN_TESTS),
    ]
    return "\n".join(parts)
