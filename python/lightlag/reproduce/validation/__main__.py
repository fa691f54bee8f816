"""Writes ``docs/validation.md`` and its figures."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from lightlag import plot
from lightlag.reproduce import PAPERS
from lightlag.reproduce.paper import Effort
from lightlag.reproduce.validation import document, image
from lightlag.reproduce.validation.judges import all_judgements


def main() -> int:
    """Run every judge and every paper, write the page; 1 if a closed form does not hold."""
    parser = argparse.ArgumentParser(prog="python -m lightlag.reproduce.validation", description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("docs/validation.md"), help="default: docs/validation.md")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)), help="runs at a time")
    parser.add_argument("--seeds", type=int, help="runs for each item of a paper that has a spread")
    arguments = parser.parse_args()
    judgements = all_judgements(Effort(jobs=arguments.jobs))
    papers = [paper.reproduce(jobs=arguments.jobs, seeds=arguments.seeds) for paper in PAPERS.values()]
    arguments.out.write_text(document(judgements, papers), "utf-8")
    for paper in papers:
        for picture in paper.pictures:
            path = arguments.out.parent / image(paper, picture)
            path.parent.mkdir(exist_ok=True)
            plot.save(picture.figure, path)
    failed = [judgement for judgement in judgements if judgement.holds is False]
    for judgement in failed:
        print(f"does not hold: {judgement.judge}, {judgement.point}: {judgement.deviation}", file=sys.stderr)
    print(f"{arguments.out}: {len(judgements)} rows, {len(failed)} do not hold")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
