"""The pages of the congestion-control algorithms, from the descriptions that the engine has of them.

Each algorithm declares its summary, equations, parameters, variants, deviations and checks in Rust
(`lightlag_control::congestion`). `lightlag explain NAME` prints a part of the same descriptions.
"""

from __future__ import annotations

import inspect
import json
import re
from typing import Any

from lightlag import _engine

__all__ = ["catalog", "file_name", "overview", "page"]

Entry = dict[str, Any]

RULES = "../../models/congestion-control.md"
MODELS = {
    "established": "established: rules and constants come from the source",
    "reconstructed": "reconstructed: the public texts leave rules or constants open; our own choices are deviations",
}
ASSIGNMENT = re.compile(r'\b[a-z_]+ = (?:"[^"]*"|\{[^}]*\})')
PAGE_NAME = re.compile(r"\bdocs/([\w/-]+)\.md")
SLOW_START = ("slow_start", "hystart_", "search_")


def catalog() -> list[Entry]:
    """Returns the descriptions of all algorithms."""
    entries: list[Entry] = json.loads(_engine.catalog())["congestion"]
    return entries


def file_name(name: str) -> str:
    """Returns the name of an algorithm's page without its ending."""
    return name.replace("+", "-plus")


def overview(entries: list[Entry]) -> str:
    """Returns the table of all algorithms, for inclusion in `models/congestion-control.md`, with their pages."""
    folder = "../reference/algorithms"
    rows = [
        _row(
            f"[{entry['name']}]({folder}/{file_name(entry['name'])}.md)",
            entry["year"],
            entry["signal"],
            entry["provenance"],
            _marked(entry["source"]),
        )
        for entry in entries
    ]
    pages = "\n".join(f"{folder}/{file_name(entry['name'])}" for entry in entries)
    head = _head("algorithm", "year", "reacts to", "model", "source")
    return f"{head}\n" + "\n".join(rows) + f"\n\n```{{toctree}}\n:hidden:\n:maxdepth: 1\n\n{pages}\n```\n"


def page(entry: Entry) -> str:
    """Returns the page of an algorithm."""
    name = entry["name"]
    parts = [
        f"# {name}",
        _marked(entry["about"]),
        _facts(entry),
        "## Equations\n\nW and ssthresh are in segments. The [symbols]"
        f"({RULES}#notation) are common to all algorithms.\n\n```text\n" + "\n".join(entry["equations"]) + "\n```",
    ]
    if entry["details"]:
        parts.append(f"## Details\n\n{_text(entry['details'])}")
    parts += [_parameters(entry), _variants(entry), _deviations(entry)]
    if entry["checks"]:
        head = "## Checks\n\nTests compare these properties with the source or with a closed form."
        parts.append(f"{head}\n\n{_text(entry['checks'])}")
    missing = entry["not_modelled"] or "No omission is known."
    parts.append(f"## Not modelled\n\n{_text(missing)}")
    return "\n\n".join(filter(None, parts)) + "\n"


def _facts(entry: Entry) -> str:
    needs = "; ".join(entry["needs"]) or "nothing but ACKs"
    rows = [
        ("source", _marked(entry["source"])),
        ("year", entry["year"]),
        ("reacts to", entry["signal"]),
        ("model", MODELS[entry["provenance"]]),
        ("needs", needs),
        ("in a scenario", f'`congestion = "{entry["name"]}"`'),
    ]
    return _head(" ", " ") + "\n" + "\n".join(_row(*row) for row in rows)


def _parameters(entry: Entry) -> str:
    if not entry["parameters"]:
        return "## Parameters\n\nThere are none."
    shared = [one for one in entry["parameters"] if one["name"].startswith(SLOW_START)]
    own = [one for one in entry["parameters"] if one not in shared]
    example = next((f"{one['name']} = {_toml(one)}" for one in own or shared), "")
    text = f'## Parameters\n\nAs a table: `congestion = {{ algorithm = "{entry["name"]}", {example} }}`.'
    if own:
        text += f"\n\n{_table(own)}"
    if shared:
        text += f"\n\nParameters of [slow start]({RULES}#slow-start):\n\n{_table(shared)}"
    return text


def _toml(parameter: dict[str, str]) -> str:
    """Returns the default of a parameter as it is written in a scenario."""
    default = parameter["default"].split(";")[0]
    return default if re.fullmatch(r"[\d.]+|true|false", default) else f'"{default}"'


def _table(parameters: list[dict[str, str]]) -> str:
    rows = []
    for one in parameters:
        unit = f" {one['unit']}" if one["unit"] not in ("", "time") else ""
        rows.append(_row(f"`{one['name']}`", one["default"] + unit, one["range"], _marked(one["meaning"])))
    return _head("key", "default", "values", "meaning") + "\n" + "\n".join(rows)


def _variants(entry: Entry) -> str:
    if not entry["variants"]:
        return ""
    parts = ["## Variants"]
    for value, rules in entry["variants"]:
        (key,) = (one["name"] for one in entry["parameters"] if f'"{value}"' in one["range"])
        parts.append(f'### `{key} = "{value}"`\n\n{_text(rules)}')
    return "\n\n".join(parts)


def _deviations(entry: Entry) -> str:
    rules = f"The [deviations of all algorithms]({RULES}#deviations-of-all-algorithms) also apply."
    if not entry["deviations"]:
        return f"## Deviations\n\nNo other deviation from the source is known. {rules}"
    rows = [_row(one["scope"] or "all", one["source"], one["here"], one["reason"]) for one in entry["deviations"]]
    return f"## Deviations\n\n{_head('scope', 'source', 'model', 'reason')}\n" + "\n".join(rows) + f"\n\n{rules}"


def _head(*cells: str) -> str:
    return f"{_row(*cells)}\n|{'---|' * len(cells)}"


def _row(*cells: Any) -> str:
    return f"| {' | '.join(str(cell).replace('|', chr(92) + '|') for cell in cells)} |"


def _text(markdown: str) -> str:
    """Returns indented Markdown from the engine in the form for a page in `reference/algorithms`."""
    return PAGE_NAME.sub(r"[the page of its model](../../\1.md)", inspect.cleandoc(markdown))


def _marked(sentence: str) -> str:
    """Returns a sentence for the terminal with its assignments as code."""
    return ASSIGNMENT.sub(lambda found: f"`{found[0]}`", sentence)
