"""The pages of ``docs/validation``, and their index ``docs/validation.md``.

Each command writes its own pages. All pages have a head of the same form, which gives the index their titles and
results.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from lightlag import _engine
from lightlag.errors import InputError
from lightlag.files.output import write_text
from lightlag_papers.table import markdown_table

FOLDER = Path("docs/validation")
"""The directory of the pages in the repository."""

NAMES = (
    *("closed-forms", "algorithms", "kernel", "measured", "satellite-access", "quic", "quic-stacks"),
    *("interoperability", "packet-scripts", "quic-interop", "bbr", "why"),
)
"""Names of the pages in the order of the index; the papers follow in their own order."""

INTRODUCTION = """\
# Validation

These pages compare lightlag with closed forms, with papers, with the kernel's TCP, with measurements of real links and
with the packet scripts of the kernel's developers. Each page starts with its verdict and is written by the command in
its row, never by hand. Deviations are listed in full; rows that agree may share a line, and the command prints or
writes them all. In addition, every run checks that packets are conserved: sent = delivered + dropped + in flight.
`lightlag validate congestion NAME` checks one algorithm, and writes a page of its own;
`lightlag validate bbr --congestion NAME` runs the test cases of BBR's draft with it.
"""

VERDICTS = """\
## Verdicts on papers

A *claim* is a printed result of a paper: a number, an order, or a shape in words. It is *reproduced* inside its band
and *not reproduced* outside, with the reason shown. It is *undecided* where the paper contradicts itself or leaves a
decisive setting open. A row without a value of the paper is not a claim. It is an *own check* against a closed form,
a model or another simulator, which *holds* or *does not hold* and is counted separately; or it is for information.

Where a paper leaves a setting open, each of its values is a *reading*. A reading is evaluated with all claims, and
each claim is counted once: the page shows the rows of the reading that reproduces most claims. No claim chooses a
reading of its own.

Bands have two sides unless the paper itself prints a limit, and each band states its origin. *As printed*: the
paper's words are the criterion. *Set in advance*, on pages †: the band comes from the scatter of a model of the same
experiment, and was fixed before the simulator first ran it. A paper shows one run or the mean of ten, so a band is as
wide as the spread of runs. No result changes a band.
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

_HEAD = re.compile(
    r"# (?P<title>.+)\n\n\*\*(?P<result>.+?)\*\*(?: .+)?\n\nWritten by `(?P<command>[^`]+)`, version [^ ]+\.\n"
)


@dataclass(frozen=True)
class Page:
    """A page without its figures.

    Attributes
    ----------
    title
        Heading of the page.
    result
        One line for the index, on how many checks or claims hold.
    command
        Command that writes the page.
    body
        Content below the head, as Markdown.
    deviations
        What does not hold and why, after the result; empty if everything holds.

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
    deviations: str = ""

    def text(self) -> str:
        """Returns the page as Markdown."""
        verdict = f"**{self.result}** {self.deviations}".rstrip()
        head = f"# {self.title}\n\n{verdict}\n\nWritten by `{self.command}`, version {_engine.__version__}.\n"
        body = re.sub(r"\n{3,}", "\n\n", self.body.strip())
        return f"{head}\n{body}\n"


def check_folder(folder: Path) -> None:
    """Checks that the directory for pages is usable, before the measurements start.

    Raises
    ------
    InputError
        If the directory cannot be created.
    """
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder}: is a file; name a directory for the pages with --out")
    if not folder.parent.is_dir():
        raise InputError(f"{folder}: there is no directory {folder.parent}; create it, or name another one with --out")


def write(folder: Path, pages: Mapping[str, Page]) -> None:
    """Writes pages by name, and rewrites the index. Pages of other commands are not changed."""
    check_folder(folder)
    folder.mkdir(exist_ok=True)
    for name, page in pages.items():
        write_text(folder / f"{name}.md", page.text())
    write_text(index_of(folder), index(folder))


def index_of(folder: Path) -> Path:
    """Returns the path of the index, which has the directory's name and is next to it.

    Examples
    --------
    >>> index_of(FOLDER).as_posix()
    'docs/validation.md'
    """
    return folder.parent / f"{folder.name}.md"


def index(folder: Path) -> str:
    """Returns the index of the pages that are in a directory.

    Raises
    ------
    InputError
        If one of the files does not have the head of a page.
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
        "## Comparisons in tests\n\nThese comparisons are tests; `make test-all` runs them.\n",
        markdown_table(("comparison", "command"), IN_TESTS),
    ]
    return "\n".join(parts)
