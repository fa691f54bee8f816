"""Files that follow from the engine: classes of scenarios from the schema, types of results from the dictionary."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from lightlag import _engine
from manual import results
from manual.hints import Definitions
from manual.mirrors import MODULES, Mirror


def stale(path: object) -> None:
    pytest.fail(f"{path} differs from what the engine declares; run: make mirrors", pytrace=False)


@pytest.mark.parametrize("module", MODULES)
def test_the_classes_of_a_scenario_match_the_schema(module: str) -> None:
    mirror = Mirror(module)
    if mirror.updated() != mirror.text():
        stale(mirror.path)


def test_the_types_of_results_in_the_page_match_the_dictionary() -> None:
    if results.FILE.read_text("utf-8") != results.results():
        stale(results.FILE)


def test_the_names_of_tables_match_the_dictionary(monkeypatch: pytest.MonkeyPatch) -> None:
    text = results.SOURCE.read_text("utf-8")
    if text != results.with_names(text):
        stale(results.SOURCE)
    monkeypatch.setattr(_engine, "dictionary", lambda: json.dumps([{"name": "flows"}, {"name": "waves"}]))
    assert 'TableName = Literal[\n    "flows",\n    "waves",\n]\n' in results.with_names(text)


def links(change: dict[str, Any] | None = None, drop: str | None = None) -> str:
    """Returns the module of links for a schema with these additional keys, and without one."""
    root = copy.deepcopy(Definitions().root)
    for table in ("LinkSpec", "PlainLink"):
        root["$defs"][table]["properties"] |= change or {}
        root["$defs"][table]["properties"].pop(drop, None)
    return Mirror("links", Definitions(root)).updated()


def test_a_new_key_of_a_link_becomes_the_last_field_of_a_line() -> None:
    sides = {side: {"$ref": "#/$defs/Duration"} for side in ("forward", "backward")}
    new = {
        "description": "Time to do it, `{ from = true }`",
        "anyOf": [{"$ref": "#/$defs/Duration"}, {"type": "object", "properties": sides}, {"type": "null"}],
        "default": "1 s",
    }
    assert links({"wait": new}) == Mirror("links").text().replace(
        '    ``{"rate": "50 Mbit/s", "burst": "64 kB"}``."""\n',
        '    ``{"rate": "50 Mbit/s", "burst": "64 kB"}``."""\n'
        "    wait: Time | Directions[Time] | None = None\n"
        '    """Time to do it, ``{"from": True}``. Default: ``"1 s"``."""\n',
    ).replace("    Slots,\n", "    Slots,\n    Time,\n")


def test_a_type_follows_the_schema_where_it_accepts_other_values() -> None:
    whole = {"type": "integer"}
    header = {"description": "Either.", "enum": ["short", "long"]}
    module = links({"header": header, "duplicate": whole, "mtu": whole})
    assert '    header: Literal["short", "long"] | None = None\n    """Either."""\n' in module
    assert "    duplicate: int | None = None\n" in module
    # The name is in no type any more, so it is not imported.
    assert "    Size,\n" not in module


def test_a_key_that_must_be_given_has_no_default() -> None:
    root = copy.deepcopy(Definitions().root)
    root["$defs"]["PlainLink"]["required"].append("header")
    assert "    header: Size\n" in Mirror("links", Definitions(root)).updated()


def test_a_field_without_a_key_goes() -> None:
    gone = links(drop="duplicate")
    assert "duplicate" in Mirror("links").text()
    assert "duplicate" not in gone


def test_methods_and_further_paragraphs_stay() -> None:
    root = copy.deepcopy(Definitions().root)
    root["description"] = "A `trial`."
    module, before = Mirror("document", Definitions(root)).updated(), Mirror("document").text()
    assert module.split("    Examples\n", 1)[1] == before.split("    Examples\n", 1)[1]
    assert '    """A ``trial``.\n\n    Examples\n' in module


def test_columns_become_members_with_their_groups_and_gaps(monkeypatch: pytest.MonkeyPatch) -> None:
    def column(name: str, *keys: str, **other: Any) -> dict[str, Any]:
        plain = {"kind": "number", "unit": "s", "meaning": "Time.", "optional": False, "nullable": False}
        return plain | {"name": name, "keys": keys, "omitted": False} | other

    tables = [
        {
            "name": "proxies",
            "meaning": "A proxy.",
            "columns": [
                column("name", "name", kind="text", unit=""),
                column("why", "why", kind="text", unit="", omitted=True),
                column("waits_mean_s", "waits", "mean_s", optional=True, nullable=True),
            ],
        },
        {"name": "trace", "meaning": "A row.", "columns": [column("time_s"), column("flow")]},
    ]
    monkeypatch.setattr(_engine, "dictionary", lambda: json.dumps(tables))
    assert (
        results.results().split("*/\n", 1)[1]
        == """
/** A proxy. */
export interface ProxySummary {
  /** Time. */
  name: string;
  /** Time. */
  why?: string;
  waits?: {
    /** Time (s). */
    mean_s: number | null;
  };
}

/** The tables of a run's summary. Those without rows may be left out. */
export interface Summed {
  proxies: ProxySummary[];
}

/** The columns of the tables that a run records. */
export interface Recorded {
  /** A row. */
  trace: "time_s" | "flow";
}
"""
    )
