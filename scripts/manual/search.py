"""The search of the site: words that lead to a page, and a check of the index that Sphinx has built.

Sphinx finds a page by its words and titles. `WORDS` adds entries for questions, synonyms and abbreviations; the search
shows them first. `python -m manual.search DIRECTORY` queries the built site, with its own script in Node.js, and
fails if the page of an entry is not among the first three results.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from sphinx.addnodes import index
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

WORDS = {
    "bufferbloat": "questions#bufferbloat-and-queues-against-it",
    "queueing delay": "course/lab3",
    "aqm": "models/network#queues",
    "why slow": "questions#why-is-it-slow",
    "slow": "questions#why-is-it-slow",
    "compare two algorithms": "questions#compare-two-algorithms",
    "two flows different congestion": "questions#two-flows-with-different-congestion-control",
    "competing flows": "questions#two-flows-with-different-congestion-control",
    "windows": "questions#windows-and-macos",
    "macos": "questions#windows-and-macos",
    "mac": "questions#windows-and-macos",
    "dtn": "questions#what-is-not-modelled",
    "bundle": "questions#what-is-not-modelled",
    "bundle protocol": "questions#what-is-not-modelled",
    "ltp": "questions#what-is-not-modelled",
    "cfdp": "questions#what-is-not-modelled",
    "custody": "questions#what-is-not-modelled",
    "mptcp": "questions#what-is-not-modelled",
    "limitations": "questions#what-is-not-modelled",
    "tle": "constellations",
    "two-line elements": "constellations",
    "loss": "models/network#losses",
    "packet loss": "models/network#losses",
    "teaching": "course/index",
    "lab": "course/index",
    "exercise": "course/index",
    "wireshark": "commands/inspect",
    "starlink": "constellations",
    "install": "install",
}
"""Queries, each with the page and the heading of its first result."""

SHOWN = 3
"""Number of results among which a page must be."""

_ASK = Path(__file__).with_suffix(".js")


def add(_app: Sphinx, document: Any, name: str) -> None:
    """Adds the words that lead to a page to its index, which the search reads; called before the page is written."""
    places = {word: place.partition("#") for word, place in WORDS.items()}
    entries = [("single", word, heading, "main", None) for word, (page, _, heading) in places.items() if page == name]
    if entries:
        document.insert(0, index(entries=entries))


def outdated(_app: Sphinx, env: BuildEnvironment, *_changes: object) -> list[str]:
    """Returns the pages of the words, which each build reads again: Sphinx does not store these entries."""
    return sorted({place.partition("#")[0] for place in WORDS.values()} & env.found_docs)


def results(site: Path, queries: list[str]) -> dict[str, list[str]]:
    """Returns the results of queries in a built site, pages with their headings, the best first."""
    done = subprocess.run(["node", str(_ASK), str(site), *queries], capture_output=True, text=True, check=True)
    found: dict[str, list[str]] = json.loads(done.stdout)
    return found


def missing(site: Path) -> list[str]:
    """Returns the queries whose page is not among the first results, with the results that they have."""
    found = results(site, list(WORDS))
    wrong = []
    for word, place in WORDS.items():
        first = found[word][:SHOWN]
        if place.partition("#")[0] not in [one.partition("#")[0] for one in first]:
            wrong.append(f"{word}: {', '.join(first) or 'nothing'}, and not {place}")
    return wrong


def main(site: str) -> None:
    if wrong := missing(Path(site)):
        sys.exit("The search does not find pages first:\n" + "\n".join(wrong))


if __name__ == "__main__":
    main(sys.argv[1])
