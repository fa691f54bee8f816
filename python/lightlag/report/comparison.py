"""The report of a comparison: which is best, then charts, then tables, and what it takes to repeat it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from lightlag import _engine
from lightlag.errors import InputError, ScenarioError
from lightlag.outcomes.design import MEASURES
from lightlag.outcomes.outcomes import Outcomes
from lightlag.records import origin
from lightlag.records.records import Records
from lightlag.report.answer import Answer, answer, by_how_much, listed
from lightlag.report.comparison_charts import charts
from lightlag.report.page import ZOOMING, Cell, anchors, data_links, figure, page, section, table, text

__all__ = ["comparison_page"]

_MOST_PAIRS = 8
_LONGEST_SKY = 600.0
"""Seconds of a constellation that a report plays."""
_LONGEST_SWARM = 20.0
"""Seconds of a swarm that a report runs again and plays."""
_PLACES = {
    "answer": "Answer",
    "figures": "Charts",
    "tables": "Tables",
    "algorithms": "Algorithms",
    "measures": "Measures",
    "repeat": "How to repeat it",
}


def comparison_page(
    comparison: Outcomes,
    command: str = "",
    files: Mapping[str, str] | None = None,
    *,
    run: Callable[..., Records],
) -> str:
    """The report as HTML.

    Parameters
    ----------
    command
        What was typed.
    files
        The files beside the page, with what they hold.
    run
        Runs a scenario, as :func:`lightlag.run`: a swarm is run again for the page.
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
        section("measures", "Measures", _measures(comparison), is_open=False),
        section("repeat", "How to repeat it", _repetition(comparison, command), is_open=True),
    ]
    return page(f"{comparison.name}: comparison", body, drawn)


def _answer(found: Answer) -> str:
    more = "".join(f"<li>{text(sentence)}</li>" for sentence in found.sentences)
    return (
        f'<section class="answer"><h2 id="answer">Answer</h2><p class="headline">{text(found.headline)}</p>'
        f"{f'<ul>{more}</ul>' if more else ''}</section>"
    )


def _in_short(comparison: Outcomes) -> str:
    """The subject of the comparison, in a sentence."""
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
    if shares := comparison.shares():
        goodput = MEASURES[0]
        labels = [one.label for one in comparison.variables]
        rows = [
            [*map(Cell, (mix, *point, algorithm)), Cell(goodput.show(interval), interval.mean, is_number=True)]
            for mix, point, algorithm, interval in shares
        ]
        heads = ["competitors", *labels, "algorithm", "goodput of a flow"]
        parts += ["<h3>Competing algorithms</h3>", table(heads, rows)]
    return section("tables", "Tables", *parts, is_open=True)


def _best_table(comparison: Outcomes, found: Answer) -> str:
    goodput = MEASURES[0]
    rows = []
    for one in found.points:
        assert one.point is not None, "there are several"
        best, level = one.ranking.best, one.ranking.level
        interval = comparison.interval(best.name, goodput, one.point)
        behind = one.ranking.behind
        lead = (
            by_how_much(behind[0]) if len(level) == 1 and behind else "cannot be told apart" if len(level) > 1 else "–"
        )
        values = [
            Cell(value, f"{variable.values.index(value):09d}")
            for variable, value in zip(comparison.variables, one.point, strict=True)
        ]
        shown = [Cell(listed(level, "or")), Cell(goodput.show(interval), interval.mean, is_number=True), Cell(lead)]
        rows.append([*values, *shown])
    return table([*(one.label for one in comparison.variables), "best", "goodput", "lead"], rows)


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
    """Whether the models follow their sources in every rule."""
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
        "<p>Each mean is that of independent runs; ± is half of its 95 % interval (Student t).</p>"
        "<p>The answer compares runs of the same seed, which meet the same chance. An interval of a ratio is that of "
        "Fieller (1954). The intervals of the best beside all others hold together with 95 % (Bonferroni), at each "
        "point by itself. Where an interval holds 0 %, two cannot be told apart by these runs.</p>"
    )


def _sky(comparison: Outcomes) -> list[str]:
    """The globe of a scenario with a constellation, with the ways of its first pairs."""
    if not comparison.scenario.get("constellation"):
        return []
    from lightlag.constellation import player as constellation_player
    from lightlag.constellation import satellites as constellation

    try:
        sky = constellation.sky(comparison.scenario)
    except (InputError, ScenarioError) as error:
        # A report may be written where the file with the orbits no longer is.
        return ["<h2>Constellation</h2>", f"<p>The sky cannot be drawn: {text(error)}</p>"]
    flows = ((flow["from"], flow["to"]) for flow in comparison.scenario["flows"])
    pairs = [pair for pair in dict.fromkeys(flows) if set(pair) <= set(sky.stations)][:_MOST_PAIRS]
    longest = max((one.simulated_s for one in comparison.outcomes), default=0.0) or 60.0
    until_s = min(longest, _LONGEST_SKY)
    which = "The first scenario: " if any(one.label for one in comparison.design.variables) else ""
    about = f"{which}{len(sky.satellites)} satellites for {until_s:g} s from {sky.start} on."
    return [
        "<h2>Constellation</h2>",
        f"<p>{text(about)}</p>",
        constellation_player.player(sky, pairs=pairs, until_s=until_s, title="Constellation"),
    ]


def _repetition(comparison: Outcomes, command: str) -> str:
    design = comparison.design
    last = design.seed + design.replications - 1
    about = {"version": comparison.version} | comparison.origin | ({"command": command} if command else {})
    facts = [("in this folder", comparison.repeat)] if comparison.repeat is not None else []
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
    """The nodes of a scenario with radio media, their links, and the ways of its flows: its start, run again."""
    scenario = comparison.scenario
    swarm = scenario.get("topology") or {}
    if not (swarm.get("kind") == "swarm" or scenario.get("media")):
        return []
    from lightlag.swarm import paths as swarm_paths
    from lightlag.swarm import player as swarm_player

    heading = "<h2>Swarm</h2>"
    count = swarm.get("nodes", 0) + len(scenario.get("nodes", []))
    if count > swarm_player.MOST_NODES:
        return [heading, f"<p>It has {count} nodes; reports play {swarm_player.MOST_NODES} at most.</p>"]
    longest = max((one.simulated_s for one in comparison.outcomes), default=0.0) or _LONGEST_SWARM
    until_s, seed = min(longest, _LONGEST_SWARM), comparison.design.seed
    every_s = swarm_player.fitting(count, until_s)
    record = {"trace": "off", "queue": "off", "drops": False, "positions": f"{every_s:g} s"}
    try:
        result = run({**scenario, "record": record}, seed=seed, duration=f"{until_s:g} s")
    except (InputError, ScenarioError) as error:
        # A report may be written where the file with the paths of the nodes no longer is.
        return [heading, f"<p>The swarm cannot be drawn: {text(error)}</p>"]
    which = "the first scenario" if any(one.label for one in comparison.design.variables) else "the scenario"
    about = f"The first {until_s:g} s of {which} with its own algorithms, seed {seed}, run again for this report."
    radio = swarm_paths.radio_of(scenario)
    player = swarm_player.player(result.positions, every_s=every_s, radio=radio, paths=result.paths)
    return [heading, f"<p>{text(about)}</p>", player]
