"""The figures of a comparison as files: several processes share the work where there is enough of it.

matplotlib holds Python's lock while it draws, so that threads would wait for each other. A process of this module reads
on standard input what to draw, as JSON, and a comparison's runs, and writes the figures to a folder.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lightlag.comparison import Comparison

__all__ = ["draw"]

_WORTH_A_PROCESS = 4
"""So many figures take as long as a process takes to start, three times over."""


def draw(comparison: Comparison, formats: Sequence[str], jobs: int) -> dict[tuple[str, str], bytes]:
    """Every figure in every format, by kind and format.

    Parameters
    ----------
    formats
        pdf, svg and png.
    jobs
        The most processes, this one included.
    """
    kinds = comparison.figures
    count = max(1, min(jobs, len(kinds) // _WORTH_A_PROCESS))
    with tempfile.TemporaryDirectory(prefix="lightlag-figures-") as place:
        others = [_begin(comparison, kinds[at::count], formats, Path(place)) for at in range(1, count)]
        try:
            drawn = _draw(comparison, kinds[::count], formats)
            for other in others:
                if other.wait() != 0:
                    raise OSError(f"a process that drew figures ended with {other.returncode}")
        finally:
            for other in others:
                other.kill()
                other.wait()
        for path in Path(place).iterdir():
            kind, _, suffix = path.name.rpartition(".")
            drawn[kind, suffix] = path.read_bytes()
    return {(kind, suffix): drawn[kind, suffix] for kind in kinds for suffix in formats}


def _draw(comparison: Comparison, kinds: Sequence[str], formats: Sequence[str]) -> dict[tuple[str, str], bytes]:
    from lightlag import style

    drawn: dict[tuple[str, str], bytes] = {}
    for kind in kinds:
        figure = comparison.plot(kind)
        style.settle(figure)
        drawn |= {(kind, suffix): style.save_as(figure, suffix) for suffix in formats}
    return drawn


def _begin(
    comparison: Comparison, kinds: Sequence[str], formats: Sequence[str], folder: Path
) -> subprocess.Popen[bytes]:
    """A process that draws these figures. What it is to draw stands in a file: a pipe would wait for it to start."""
    from lightlag import journal

    task = {
        "kinds": list(kinds),
        "formats": list(formats),
        "folder": str(folder),
        "design": comparison.design.to_json(),
    }
    with tempfile.TemporaryFile() as written:
        written.write((json.dumps(task) + "\n").encode())
        written.write("".join(journal.lines(comparison.keyed())).encode())
        written.seek(0)
        return subprocess.Popen([sys.executable, "-m", "lightlag._drawing"], stdin=written, stdout=subprocess.DEVNULL)


def main() -> None:
    """Draws what standard input asks for."""
    from lightlag.comparison import Comparison, Design
    from lightlag.outcome import Outcome

    task = json.loads(sys.stdin.readline())
    outcomes = [Outcome.from_json(json.loads(line)["outcome"]) for line in sys.stdin]
    comparison = Comparison(Design.from_json(task["design"]), outcomes)
    for (kind, suffix), data in _draw(comparison, task["kinds"], task["formats"]).items():
        (Path(task["folder"]) / f"{kind}.{suffix}").write_bytes(data)


if __name__ == "__main__":
    main()
