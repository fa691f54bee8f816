"""The keys of the JSON objects that commands print and result folders hold.

Rows of tables are declared where the tables are: `docs/results.md` and the page of comparisons. Here are keys around
them; `tests/test_manual.py` compares them with what the commands print.
"""

from __future__ import annotations

OBJECTS: dict[str, dict[str, str]] = {
    "lightlag run --json": {
        "scenario": "the scenario as run, with every default and change",
        "seed": "start of every random stream",
        "version": "version of lightlag",
        "simulated_s": "seconds that were simulated",
        "events": "events that the engine handled",
        "packet_hops": "passages of one packet through one link, drops included",
        "result_hash": "hash over every recorded number",
        "wall_s": "seconds that the run took on this machine",
        "flows, links, proxies, legs, media, radios": "rows of these tables, where there are some",
    },
    "run.json of a run": {
        "scenario, seed, version, simulated_s, wall_s, events, packet_hops, result_hash": "as above",
        "interrupted": "whether the run was stopped before its end",
        "files": "files that belong to the results",
        "origin": "what computed the results: versions, platform, command",
        "repeat": "command that computes the results again",
    },
    "lightlag compare --json": {
        "comparison": "labels of the algorithms",
        "version": "version of lightlag",
        "finished": "runs that have finished",
        "complete": "whether these are all runs",
        "design": "scenario, algorithms, variables, first seed and number of seeds",
        "folder": "folder of the results",
        "summary": "rows of the table `summary`",
        "origin": "what computed the results: versions, platform, command",
        "repeat": "command that computes the results again",
    },
    "run.json of a comparison": {
        "comparison, version, finished, complete, design": "as above",
        "files": "files that belong to the results",
        "origin": "what computed the results: versions, platform, command",
        "repeat": "command that computes the results again",
    },
    "lightlag check --json": {
        "file": "scenario that was checked",
        "valid": "whether it can be run",
        "errors": "mistakes, if it cannot: `place` and `message` of each",
        "warnings": "settings that spoil the result: `place` and `message` of each",
        "routes": "ways of flows that change during the run",
    },
    "lightlag diff --json": {
        "kind": "kind of what is compared: a run, a comparison or a scenario",
        "equal": "whether nothing differs",
        "a, b": "both sides: `name`, `scenario` and `version` of each",
        "input": "keys that differ: `key`, `a` and `b`",
        "result_hashes": "hashes of both, if the input is the same",
        "measures": "for each flow and measure: `a`, `b`, `difference`, `relative`, and whether one side alone has it",
    },
}
"""For each object its keys with their meanings; several keys with commas between share one."""


def known(title: str) -> set[str]:
    """Returns the keys of an object that its page lists."""
    return {name for names in OBJECTS[title] for name in names.split(", ")}


def page() -> str:
    """Returns the page of all objects."""
    sections = []
    for title, keys in OBJECTS.items():
        rows = "\n".join(
            f"| {', '.join(f'`{name}`' for name in names.split(', '))} | {about[:1].upper()}{about[1:]}. |"
            for names, about in keys.items()
        )
        sections.append(f"## {title}\n\n| key | meaning |\n|---|---|\n{rows}\n")
    return "\n".join([HEAD, *sections])


HEAD = """\
# JSON

With `--json` a command prints one object on stdout and nothing else; notes, progress and errors go to stderr. Rows of
tables have the names of their [columns](../results.md), and groups of columns are objects in them; rows of comparisons
have [these](comparisons.md). A number that does not exist is null.
"""
