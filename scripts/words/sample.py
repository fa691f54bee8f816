"""A random sample of the doc comments of the repository, for somebody who did not write them to read."""

from __future__ import annotations

import random
from pathlib import PurePath

from words import counts, prose


def doc_comments(number: int, seed: int) -> list[str]:
    """Returns a sample of doc comments of source files, each with its place and the line of code after it.

    Parameters
    ----------
    number
        Size of the sample; at most the number of doc comments.
    seed
        Seed of the sample. The same seed and tree give the same sample.
    """
    known = []
    for path in counts.files():
        source = (counts.ROOT / path).read_text("utf-8")
        lines = source.split("\n")
        for passage in prose.passages(PurePath(path), source):
            if passage.doc:
                end = passage.line + passage.text.count("\n")
                known.append(f"{path}:{passage.line}\n" + "\n".join(lines[passage.line - 1 : end + 1]))
    return random.Random(seed).sample(known, min(number, len(known)))
