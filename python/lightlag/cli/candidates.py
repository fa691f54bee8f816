"""Candidates for the values of options and arguments."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, get_args

from lightlag import _engine
from lightlag.errors import InputError
from lightlag.words import schema as _schema

__all__ = ["OF", "files"]

Given = Mapping[str, list[str]]
Candidate = tuple[str, str]
MOST_FILES = 200


def files(start: str, given: Given) -> Iterable[Candidate]:
    """Completes files and directories."""
    folder, _, begin = start.rpartition("/")
    place = Path(f"{folder}/" if folder or start.startswith("/") else ".").expanduser()
    try:
        inside = sorted(one for one in place.iterdir() if one.name.startswith(begin))[:MOST_FILES]
    except OSError:
        return []
    shown = [one for one in inside if begin.startswith(".") or not one.name.startswith(".")]
    head = f"{folder}/" if folder or start.startswith("/") else ""
    return [(f"{head}{one.name}{'/' if one.is_dir() else ''}", "") for one in shown]


def _scenarios(start: str, given: Given) -> Iterable[Candidate]:
    from lightlag.words import explain

    found = [(name, about) for name, about in explain.first_sentences(explain.presets()).items()]
    names = (".toml", ".json", "/")
    return [*found, *(one for one in files(start, given) if one[0].endswith(names))]


def _algorithms(start: str, given: Given, *, separators: str = "") -> Iterable[Candidate]:
    """Completes names of algorithms, also after separators: ``cubic,hy``, ``cubic/b``."""
    cut = max((start.rfind(one) for one in separators), default=-1) + 1
    head = start[:cut]
    return [
        (f"{head}{one['name']}", one["about"].split(". ")[0]) for one in json.loads(_engine.catalog())["congestion"]
    ]


def _sets(start: str, given: Given, *, separators: str = "", label: bool = False) -> Iterable[Candidate]:
    """Completes keys of the scenario, and after ``=`` their values."""
    key, separator, value = start.partition("=")
    head, _, key = key.rpartition(": ") if label and ": " in key else ("", "", key)
    head = f"{head}: " if head else ""
    if separator:
        return _values(f"{head}{key}=", key, value, separators)
    path, dot, _ = key.rpartition(".")
    steps = path.split(".") if dot else []
    tree = _tree(given)
    front = f"{head}{path}." if dot else head
    found: list[Candidate] = [(f"{front}{name}.", "an entry") for name in _entries(tree, steps)]
    if not found or not _schema.is_list(steps):
        shown = _schema.children(steps)
        if not steps:
            shown |= {"rtt": {"description": "Round-trip time of the path."}} if label else {}
        for name, schema in shown.items():
            is_table = bool(_schema.children_of(schema))
            about = _about(schema)
            found.append((f"{front}{name}{'.' if is_table else '='}", about))
            if is_table and not _schema.is_list([*steps, name]):
                found.append((f"{front}{name}=", about))
    return found


def _values(front: str, key: str, value: str, separators: str) -> Iterable[Candidate]:
    cut = max((value.rfind(one) for one in separators), default=-1) + 1
    head = f"{front}{value[:cut]}"
    steps = _schema.normal(key)
    if steps[-1:] == ("congestion",):
        return [(f"{head}{name}", about) for name, about in _algorithms("", {})]
    words = [word for schema in _schema.found(steps) for word in _schema.choices(schema)]
    return [(f"{head}{word}", "") for word in dict.fromkeys(words)]


def _about(schema: dict[str, Any]) -> str:
    return str(schema.get("description") or "").split(". ")[0]


def _tree(given: Given) -> Any:
    """Returns the scenario named on the command line as plain values; empty if it cannot be read."""
    named = given.get("file") or given.get("files")
    if not named:
        return None
    from lightlag.errors import InputError, ScenarioError
    from lightlag.scenario.reading import read_scenario

    try:
        return json.loads(read_scenario(named[0]).json())
    except (ScenarioError, InputError, OSError):
        return None


def _entries(tree: Any, steps: list[str]) -> list[str]:
    """Returns the names and indices of the entries of a list in a scenario."""
    for step in steps:
        if isinstance(tree, dict):
            tree = tree.get(step)
        elif isinstance(tree, list) and step.isdigit() and int(step) < len(tree):
            tree = tree[int(step)]
        else:
            tree = None
    if not isinstance(tree, list) or not all(isinstance(one, dict) for one in tree):
        return []
    names = []
    for at, one in enumerate(tree):
        if between := one.get("between"):
            names += [f"{between[0]}-{between[1]}"]
        elif name := one.get("name") or one.get("node"):
            names.append(name)
        elif "from" in one and "to" in one:
            names.append(f"{one['from']}->{one['to']}")
        names.append(str(at))
    return list(dict.fromkeys(name for name in names if "." not in name))


def _listed(what: str) -> Callable[[str, Given], Iterable[Candidate]]:
    def candidates(start: str, given: Given) -> Iterable[Candidate]:
        from lightlag.commands.listing import entries

        return entries(what).items()

    return candidates


def _papers(start: str, given: Given) -> Iterable[Candidate]:
    with suppress(InputError):
        return [("all", "Every paper"), *_listed("papers")(start, given)]
    return []


def _metrics(start: str, given: Given) -> Iterable[Candidate]:
    """Completes the figures that the named results have, also after commas."""
    head = start[: start.rfind(",") + 1]
    return [(f"{head}{name}", "") for name in _figures(given) if name not in head.split(",")]


def _figures(given: Given) -> Sequence[str]:
    from lightlag.comparison.comparison import load_comparison
    from lightlag.records.records import Metric

    for folder in given.get("folders", ())[:1]:
        with suppress(InputError, OSError):
            return load_comparison(folder).figures
    return get_args(Metric)


def _explained(start: str, given: Given) -> Iterable[Candidate]:
    from lightlag.words import explain
    from lightlag.words import words as _words

    groups = (explain.algorithms(), explain.queues(), explain.profiles(), explain.presets())
    named = {name: about for group in groups for name, about in explain.first_sentences(group).items()}
    return [*named.items(), *((name, "") for name in [*explain.models(), *_words.known()] if name not in named)]


def _fixed(*words: str) -> Callable[[str, Given], Iterable[Candidate]]:
    return lambda start, given: [(word, "") for word in words]


def _styles(start: str, given: Given) -> Iterable[Candidate]:
    from lightlag.drawing.looks import LOOKS

    return [(name, "") for name in LOOKS]


def _fonts(start: str, given: Given) -> Iterable[Candidate]:
    from lightlag.drawing.looks import FAMILIES

    return FAMILIES.items()


def _formats(start: str, given: Given) -> Iterable[Candidate]:
    head = start[: start.rfind(",") + 1]
    return [(f"{head}{name}", "") for name in ("pdf", "svg", "png", *(() if head else ("none",)))]


OF: dict[tuple[str, str], Callable[[str, Given], Iterable[Candidate]]] = {
    ("run", "file"): _scenarios,
    ("check", "file"): _scenarios,
    ("emulate", "file"): _scenarios,
    ("orbit", "scenario"): _scenarios,
    ("export", "scenario"): _scenarios,
    ("export", "form"): _fixed("mahimahi", "theaterq", "tc", "csv", "ntn"),
    ("export", "reference"): _fixed("gateway", "satellite"),
    ("compare", "files"): _scenarios,
    ("", "sets"): _sets,
    ("", "vary"): partial(_sets, separators=",", label=True),
    ("", "congestion"): partial(_algorithms, separators=","),
    ("compare", "congestion"): partial(_algorithms, separators=",/"),
    ("new", "congestion"): _algorithms,
    ("reproduce", "paper"): _papers,
    ("", "metric"): _metrics,
    ("", "figures"): _formats,
    ("", "style"): _styles,
    ("", "font"): _fonts,
    ("", "format"): _fixed("pdf", "svg", "png", "pgf"),
    ("explain", "name"): _explained,
    ("list", "what"): _fixed("congestion", "queues", "profiles", "scenarios", "papers"),
    ("validate", "what"): _fixed("tcp", "kernel", "congestion", "bbr"),
    ("validate", "name"): _algorithms,
    ("validate", "congestion"): _algorithms,
    ("", "threads"): _fixed("auto", "1", "2", "4", "8"),
    ("congestion", "language"): _fixed("python", "numba", "rust", "c"),
    ("scenario", "path"): _fixed("geo", "meo", "leo", "moon", "wan", "lan"),
    ("import", "kind"): _fixed("iperf3", "ping", "irtt", "mahimahi", "csv", "hypatia", "ns2", "ns3", "capture"),
    ("", "install_completion"): _fixed("bash", "zsh", "fish"),
    ("", "show_completion"): _fixed("bash", "zsh", "fish"),
}
"""Functions that complete a parameter, by command and parameter; an empty command stands for any."""
