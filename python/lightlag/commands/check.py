"""``lightlag check``: the errors of a scenario, its warnings, and the routes that change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from lightlag.commands.changes import changes
from lightlag.errors import ScenarioError
from lightlag.text.terminal import print_json, say

if TYPE_CHECKING:
    from lightlag import _engine

SHOWN_WAYS = 20
"""Maximum number of printed lines about routes."""


def check(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A scenario in TOML or JSON, or the name of a preset.")],
    sets: Annotated[
        list[str] | None,
        typer.Option(
            "--set", "-s", metavar="KEY=VALUE", help="Change the scenario: links.0.loss=1e-4. May be repeated."
        ),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object, also of a scenario with errors, and every route.")
    ] = False,
) -> None:
    """Check a scenario: report all errors and warnings, and the routes that change, without running it."""
    from lightlag.constellation.satellites import Sky
    from lightlag.scenario import checked

    try:
        _, read, _ = checked(file, changes(sets))
        warnings = read.named_warnings()
    except ScenarioError as error:
        if as_json:
            print_json({"file": file, "valid": False, "errors": _places(error.errors)})
        raise
    if as_json:
        print_json(
            {
                "file": file,
                "valid": True,
                "warnings": _named(warnings),
                "routes": _routes(read),
                "rain_outages": dict(read.rain_outages()),
            }
        )
        return
    for name, place, message in warnings:
        say(f"warning: {file}: {place}: {message} [{name}]")
    if (sky := read.sky()) is not None:
        say(f"{file}: {Sky(sky).about()}")
    for name, share in read.rain_outages():
        say(f"{name}: rain stops it for {100 * share:.3g} % of the time on average")
    ways, more = read.ways(SHOWN_WAYS)
    for start, flow, nodes in ways:
        say(f"from {start:g} s: {flow} over {', '.join(nodes) if nodes else 'a loop'}")
    if more:
        say(f"and {more} more changes of routes")
    say(f"{file}: is valid" + (f", with {len(warnings)} warning{'s' * (len(warnings) > 1)}" if warnings else ""))


def _places(found: list[tuple[str, str]]) -> list[dict[str, str]]:
    return [{"place": place, "message": message} for place, message in found]


def _named(found: list[tuple[str, str, str]]) -> list[dict[str, str]]:
    return [{"name": name, "place": place, "message": message} for name, place, message in found]


def _routes(read: _engine.Scenario) -> list[dict[str, Any]]:
    """Returns every change of a route; the entry of a routing loop has no nodes."""
    ways, more = read.ways(SHOWN_WAYS)
    if more:
        ways, _ = read.ways(len(ways) + more)
    return [{"start_s": start, "flow": flow, "nodes": nodes} for start, flow, nodes in ways]
