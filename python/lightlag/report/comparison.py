"""The report of a comparison: the best algorithm, then charts, then tables, and how to reproduce it."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from typing import Any

from lightlag import _engine
from lightlag.analyse import Interval
from lightlag.errors import InputError, ScenarioError
from lightlag.outcomes.design import MEASURES
from lightlag.outcomes.outcomes import Outcomes
from lightlag.records import origin
from lightlag.records.records import Records
from lightlag.report.answer import Answer, answer, differences, listed
from lightlag.report.comparison_charts import charts
from lightlag.report.page import ZOOMING, Cell, anchors, data_links, figure, page, section, table, text

__all__ = ["comparison_page"]

_MOST_PAIRS = 8
_LONGEST_SKY = 600.0
"""Maximum number of seconds of a constellation that a report animates."""
_LONGEST_SWARM = 20.0
"""Maximum number of seconds of a swarm that a report runs again and animates."""
_PLACES = {
    "answer": "Conclusion",
    "figures": "Charts",
    "tables": "Tables",
    "algorithms": "Algorithms",
    "measures": "Metrics",
    "repeat": "How to reproduce it",
}


def comparison_page(
    comparison: Outcomes,
    command: str = "",
    files: Mapping[str, str] | None = None,
    *,
    run: Callable[..., Records],
) -> str:
    """Returns the report as HTML.

    Parameters
    ----------
    command
        The command line.
    files
        The files that the page links to, with their descriptions.
    run
        Function that runs a scenario, such as :func:`lightlag.run`: a swarm is run again for the page.
    """
    found, drawn = answer(comparison), charts(comparison)
    body = [
        f"<h1>{text(comparison.name)}</h1>",
        f'<p class="lead">{text(_in_short(comparison))}</p>',
        anchors(_PLACES),
        _answer(found),
        section("figures", "Charts", ZOOMING, *map(figure, drawn)),
        *_sky(comparison),
        *_swarm(comparison, run),
        _tables(comparison, found, files or {}),
        section("algorithms", "Algorithms", _algorithms(comparison), is_open=True),
        section("measures", "Metrics", _measures(comparison), is_open=False),
        section("repeat", "How to reproduce it", _repetition(comparison, command), is_open=True),
    ]
    return page(f"{comparison.name}: comparison", body, drawn)


def _answer(found: Answer) -> str:
    more = "".join(f"<li>{text(sentence)}</li>" for sentence in found.sentences)
    return (
        f'<section class="answer"><h2 id="answer">Conclusion</h2><p class="headline">{text(found.headline)}</p>'
        f"{f'<ul>{more}</ul>' if more else ''}</section>"
    )


def _in_short(comparison: Outcomes) -> str:
    """Returns the subject of the comparison, in a sentence."""
    design = comparison.design

    def many(count: int, what: str) -> str:
        return f"{count} {what}{'s' * (count != 1)}"

    factors = [many(len(design.competitors), "algorithm")]
    factors += [f"{many(len(one.values), 'value')} of {one.label}" for one in design.variables if one.keys]
    factors += [many(len(one.values), "scenario") for one in design.variables if not one.keys]
    factors.append(many(design.replications, "seed"))
    runs = f"{len(comparison.outcomes):,} runs"
    if not comparison.is_complete:
        runs = f"interrupted after {len(comparison.outcomes):,} of {comparison.expected:,} runs"
    return f"{' × '.join(factors)}: {runs}."


def _tables(comparison: Outcomes, found: Answer, files: Mapping[str, str]) -> str:
    parts = [data_links(files)]
    if len(found.points) > 1:
        parts += ["<h3>Best at each point</h3>", _best_table(comparison, found)]
    parts += ["<h3>Means and intervals</h3>", _summary_table(comparison)]
    if rows := _difference_rows(comparison):
        labels = [one.label for one in comparison.variables] if len(comparison.algorithms) > 1 else []
        heads = [*labels, "metric", "candidate", "mean", "compared with the best"]
        parts += ["<h3>Differences from the best</h3>", table(heads, rows)]
    if shares := comparison.shares():
        goodput = MEASURES[0]
        labels = [one.label for one in comparison.variables]
        rows = [
            [*map(Cell, (mix, *point, algorithm)), Cell(goodput.show(interval), interval.mean, is_number=True)]
            for mix, point, algorithm, interval in shares
        ]
        heads = ["candidate", *labels, "algorithm", "goodput per flow"]
        parts += ["<h3>Competing algorithms</h3>", table(heads, rows)]
    return section("tables", "Tables", *parts, is_open=True)


def _best_table(comparison: Outcomes, found: Answer) -> str:
    goodput = MEASURES[0]
    rows = []
    for one in found.points:
        assert one.point is not None, "there are several"
        interval = comparison.interval(one.level[0], goodput, one.point)
        values = [
            Cell(value, f"{variable.values.index(value):09d}")
            for variable, value in zip(comparison.variables, one.point, strict=True)
        ]
        mean = Cell(goodput.show(interval), interval.mean, is_number=True)
        rows.append([*values, Cell(listed(one.level, "or")), mean, Cell(one.lead), Cell(one.costs)])
    return table([*(one.label for one in comparison.variables), "best", "goodput", "lead", "costs"], rows)


def _difference_rows(comparison: Outcomes) -> list[list[Cell]]:
    """Returns the candidates compared with the best: by each metric, or, at several points, by goodput."""
    rows = []
    for measure in comparison.measures if len(comparison.points) == 1 else comparison.measures[:1]:
        for found in differences(comparison, measure):
            if not found.rows:
                continue
            pairs = zip(comparison.variables, found.point or (), strict=False)
            values = [Cell(value, f"{variable.values.index(value):09d}") for variable, value in pairs]
            for name, mean, words in [
                (found.base, found.mean, "best"),
                *((one.name, one.mean, one.words) for one in found.rows),
            ]:
                shown = Cell(measure.show(Interval(mean, math.nan, 1), found.mean), mean, is_number=True)
                rows.append([*values, Cell(measure.title.lower()), Cell(name), shown, Cell(words)])
    return rows


def _summary_table(comparison: Outcomes) -> str:
    labels = [one.label for one in comparison.variables]
    shown = comparison.measures
    heads = ["algorithm", *labels, *(one.title.lower() for one in shown), "runs"]
    rows = []
    for row, (name, point) in zip(comparison.rows(), comparison.cells(), strict=True):
        cells = [Cell(name, inside=f"{text(name)} {_tag(comparison, name)}")]
        for variable, value in zip(comparison.variables, point, strict=True):
            cells.append(Cell(value, f"{variable.values.index(value):09d}"))
        for measure in shown:
            mean = comparison.interval(name, measure, point).mean
            cells.append(Cell(row[measure.title.lower()], mean, is_number=True))
        cells.append(Cell(row["runs"], row["runs"].split()[0], is_number=True))
        rows.append(cells)
    return table(heads, rows)


def _catalog() -> dict[str, dict[str, Any]]:
    return {entry["name"]: entry for entry in json.loads(_engine.catalog())["congestion"]}


def _tag(comparison: Outcomes, label: str) -> str:
    """Returns tags that state how closely the models of a candidate follow their sources."""
    (competitor,) = (one for one in comparison.design.competitors if one.label == label)
    catalog = _catalog()
    kinds = {catalog[name]["provenance"] for name in competitor.algorithms if name in catalog}
    return " ".join(f'<span class="tag {kind}">{text(kind)}</span>' for kind in sorted(kinds))


def _algorithms(comparison: Outcomes) -> str:
    from lightlag.words.explain import PROVENANCE

    catalog = _catalog()
    named = dict.fromkeys(name for one in comparison.design.competitors for name in one.algorithms)
    rows = []
    for name in named:
        if name in catalog:
            entry = catalog[name]
            kind = entry["provenance"]
            tag = f'<span class="tag {kind}">{text(kind)}</span>'
            rows.append([Cell(name), Cell(kind, inside=tag), Cell(entry["source"], is_text=True)])
    notes = "".join(f"<li>{text(note)}</li>" for note in PROVENANCE.values())
    return table(["algorithm", "model", "source"], rows, sortable=False) + f"<ul>{notes}</ul>"


def _measures(comparison: Outcomes) -> str:
    listed_ = "".join(f"<dt>{text(one.title)}</dt><dd>{text(one.about)}</dd>" for one in MEASURES)
    return (
        f"<dl>{listed_}</dl>"
        "<p>Means are over independent runs; ± is half the width of the 95 % interval (Student t).</p>"
        "<p>The conclusion and the table of differences compare runs with the same seed, which share the same "
        "randomness. Intervals of ratios follow Fieller (1954). At each point, the intervals of all pairs of "
        "candidates hold simultaneously with 95 % confidence for each metric (Bonferroni; Law 2015, section 10.3.2). "
        "If such an interval contains 0 %, these runs do not distinguish the two candidates, even if the intervals of "
        "their means do not overlap. The number of seeds that would probably tell gives the paired test a power of "
        "80 % if mean and spread of the differences stay as they are.</p>"
        "<p>The conclusion states what the best candidate costs: at least 5 % of its segments retransmitted, a mean "
        "queueing delay of at least 20 % of the minimum RTT, or a Jain index of at most 0.9, if another candidate has "
        "at most half of that cost. It names a candidate that avoids such a cost with at least 90 % of the best "
        "goodput, or that cannot be distinguished from the best.</p>"
    )


def _sky(comparison: Outcomes) -> list[str]:
    """Returns the animated globe of a scenario with a constellation, with the paths of its first pairs of stations."""
    if not comparison.scenario.get("constellation"):
        return []
    from lightlag.constellation import player as constellation_player
    from lightlag.constellation import satellites as constellation

    try:
        sky = constellation.sky(comparison.scenario)
    except (InputError, ScenarioError) as error:
        # The file with the orbits may no longer exist when a report is written.
        return ["<h2>Constellation</h2>", f"<p>The constellation cannot be rendered: {text(error)}</p>"]
    flows = ((flow["from"], flow["to"]) for flow in comparison.scenario["flows"])
    pairs = [pair for pair in dict.fromkeys(flows) if set(pair) <= set(sky.stations)][:_MOST_PAIRS]
    longest = max((one.simulated_s for one in comparison.outcomes), default=0.0) or 60.0
    until_s = min(longest, _LONGEST_SKY)
    which = "The first scenario: " if any(one.label for one in comparison.design.variables) else ""
    about = f"{which}{len(sky.satellites)} satellites for {until_s:g} s, starting at {sky.start}."
    return [
        "<h2>Constellation</h2>",
        f"<p>{text(about)}</p>",
        constellation_player.player(sky, pairs=pairs, until_s=until_s, title="Constellation"),
    ]


def _repetition(comparison: Outcomes, command: str) -> str:
    design = comparison.design
    last = design.seed + design.replications - 1
    about = {"version": comparison.version} | comparison.origin | ({"command": command} if command else {})
    facts = [("in this directory", comparison.repeat)] if comparison.repeat is not None else []
    facts += [*origin.facts(about), ("seeds", f"{design.seed} to {last}" if last > design.seed else str(last))]
    facts += [
        (variable.label, f"{'+'.join(variable.keys) or 'scenario'} = {', '.join(variable.values)}")
        for variable in design.variables
    ]
    listed_ = "".join(f"<dt>{text(name)}</dt><dd><code>{text(value)}</code></dd>" for name, value in facts)
    labels = [one.label for one in comparison.variables]
    rows = [
        [
            *map(Cell, (one.congestion, *one.point)),
            Cell(one.seed, is_number=True),
            Cell(one.result_hash, inside=f"<code>{text(one.result_hash)}</code>"),
        ]
        for one in comparison.outcomes
    ]
    scenario = json.dumps(comparison.scenario, indent=2, ensure_ascii=False)
    which = "The first scenario" if any(not one.keys for one in design.variables) else "The scenario"
    return (
        f"<dl>{listed_}</dl>"
        f'<details class="long"><summary>{which}, with every default</summary><pre tabindex="0">{text(scenario)}</pre>'
        f'</details><details class="long"><summary>Hashes of the {len(rows):,} runs</summary><p>Each run records how '
        "long packets wait (<code>record.queueing = true</code>), which its hash covers.</p>"
        f"{table(['algorithm', *labels, 'seed', 'hash'], rows)}</details>"
    )


def _swarm(comparison: Outcomes, run: Callable[..., Records]) -> list[str]:
    """Returns an animation of a scenario with radio media: its nodes, their links, and the paths of its flows.

    The start of the scenario is run again for this.
    """
    scenario = comparison.scenario
    swarm = scenario.get("topology") or {}
    if not (swarm.get("kind") == "swarm" or scenario.get("media")):
        return []
    from lightlag.swarm import paths as swarm_paths
    from lightlag.swarm import player as swarm_player

    heading = "<h2>Swarm</h2>"
    count = swarm.get("nodes", 0) + len(scenario.get("nodes", []))
    if count > swarm_player.MOST_NODES:
        return [heading, f"<p>It has {count} nodes; reports animate a maximum of {swarm_player.MOST_NODES}.</p>"]
    longest = max((one.simulated_s for one in comparison.outcomes), default=0.0) or _LONGEST_SWARM
    until_s, seed = min(longest, _LONGEST_SWARM), comparison.design.seed
    every_s = swarm_player.fitting(count, until_s)
    record = {"trace": "off", "queue": "off", "drops": False, "positions": f"{every_s:g} s"}
    try:
        result = run({**scenario, "record": record}, seed=seed, duration=f"{until_s:g} s")
    except (InputError, ScenarioError) as error:
        # The file with the paths of the nodes may no longer exist when a report is written.
        return [heading, f"<p>The swarm cannot be rendered: {text(error)}</p>"]
    which = "the first scenario" if any(one.label for one in comparison.design.variables) else "the scenario"
    about = f"The first {until_s:g} s of {which} with its own algorithms, seed {seed}, run again for this report."
    radio = swarm_paths.radio_of(scenario)
    player = swarm_player.player(result.positions, every_s=every_s, radio=radio, paths=result.paths)
    return [heading, f"<p>{text(about)}</p>", player]
