"""The results of a comparison on disk: tables, figures, and one self-contained HTML file.

The report holds its figures as SVG, its style and its few lines of script; it asks no network for anything. Colours
follow the reader's choice of a light or a dark screen.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from lightlag import _drawing, _engine
from lightlag._writing import new_folder
from lightlag.comparison import MEASURES, Comparison
from lightlag.errors import InputError, ScenarioError

__all__ = ["report", "save"]

FORMATS = ("pdf", "svg", "png")
_MOST_PAIRS = 8
_LONGEST_SKY = 600.0
"""Seconds of a constellation that a report plays."""


def save(
    comparison: Comparison,
    folder: Path,
    *,
    force: bool,
    formats: Sequence[str],
    with_report: bool,
    command: str,
    study: str | None,
    helpers: Sequence[_drawing.Painter],
) -> Path:
    """Writes a results folder, as a whole or not at all; see :meth:`Comparison.save`."""
    from lightlag import journal

    for kind in formats:
        if kind not in FORMATS:
            raise InputError(f'"{kind}" is not a format of figures; name one of {", ".join(FORMATS)}')
    with new_folder(folder, force=force) as partial:
        (partial / "run.json").write_text(json.dumps(comparison.about(), indent=2) + "\n", "utf-8")
        (partial / "curves.jsonl").write_text("".join(journal.lines(comparison.keyed())), "utf-8")
        if study is not None:
            (partial / "study.toml").write_text(study, "utf-8")
        runs, summary = comparison.runs, comparison.summary
        runs.write_parquet(partial / "runs.parquet")
        runs.write_csv(partial / "runs.csv")
        summary.write_parquet(partial / "summary.parquet")
        summary.write_csv(partial / "summary.csv")
        comparison.flows.write_parquet(partial / "flows.parquet")
        wanted = list(dict.fromkeys([*formats, *(["svg"] if with_report else [])]))
        drawn = _drawing.draw(comparison, wanted, helpers) if wanted else {}
        for (kind, suffix), data in drawn.items():
            if suffix in formats:
                (partial / f"{kind}.{suffix}").write_bytes(data)
        if with_report:
            vectors = {kind: data.decode() for (kind, suffix), data in drawn.items() if suffix == "svg"}
            (partial / "report.html").write_text(_page(comparison, vectors, command), "utf-8")
    return folder


def report(comparison: Comparison, command: str = "") -> str:
    """The report as HTML.

    Parameters
    ----------
    command
        What was typed.
    """
    drawn = _drawing.draw(comparison, ["svg"])
    return _page(comparison, {kind: data.decode() for (kind, _), data in drawn.items()}, command)


def _page(comparison: Comparison, figures: Mapping[str, str], command: str) -> str:
    from lightlag.comparison_kinds import caption

    parts = [
        f"<h1>{_text(comparison.name)}</h1>",
        f'<p class="lead">{_text(_in_short(comparison))}</p>',
        _summary_table(comparison),
        *_shares_table(comparison),
        '<h2 id="figures">Figures</h2>',
        *(_figure(kind, vector, caption(kind)) for kind, vector in figures.items()),
        *_sky(comparison),
        "<h2>Algorithms</h2>",
        _algorithms(comparison),
        "<h2>Measures</h2>",
        "<dl>" + "".join(f"<dt>{_text(one.title)}</dt><dd>{_text(one.about)}</dd>" for one in MEASURES) + "</dl>",
        "<p>Each mean is that of independent runs; ± is half of its 95 % interval (Student t).</p>",
        "<h2>How to repeat it</h2>",
        _origin(comparison, command),
    ]
    body = "\n".join(parts)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{_text(comparison.name)}: comparison</title>\n<style>{_STYLE}</style>\n</head>\n"
        f"<body>\n<main>\n{body}\n</main>\n<script>{_SCRIPT}</script>\n</body>\n</html>\n"
    )


def _text(value: object) -> str:
    return html.escape(str(value))


def _in_short(comparison: Comparison) -> str:
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


def _summary_table(comparison: Comparison) -> str:
    labels = [one.label for one in comparison.variables]
    shown = comparison.measures
    heads = ["algorithm", *labels, *(one.title.lower() for one in shown), "runs"]
    rows = []
    for row, (name, point) in zip(comparison.rows(), comparison.cells(), strict=True):
        cells = [f"<td>{_text(name)} {_tag(comparison, name)}</td>"]
        for variable, value in zip(comparison.variables, point, strict=True):
            cells.append(f'<td data-at="{variable.values.index(value):09d}">{_text(value)}</td>')
        for measure in shown:
            mean = comparison.interval(name, measure, point).mean
            cells.append(f'<td class="n" data-at="{mean}">{_text(row[measure.title.lower()])}</td>')
        cells.append(f'<td class="n" data-at="{row["runs"].split()[0]}">{_text(row["runs"])}</td>')
        rows.append(f"<tr>{''.join(cells)}</tr>")
    return _table(heads, rows, sortable=True)


def _table(heads: Iterable[str], rows: Iterable[str], *, sortable: bool = False) -> str:
    head = "".join(f'<th scope="col"{" tabindex=0" * sortable}>{_text(one)}</th>' for one in heads)
    kind = ' class="sortable"' if sortable else ""
    return f'<div class="wide"><table{kind}><thead><tr>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table></div>'


def _shares_table(comparison: Comparison) -> list[str]:
    shares = comparison.shares()
    if not shares:
        return []
    goodput = MEASURES[0]
    labels = [one.label for one in comparison.variables]
    rows = []
    for mix, point, algorithm, interval in shares:
        values = "".join(f"<td>{_text(value)}</td>" for value in point)
        shown = f'<td class="n" data-at="{interval.mean}">{_text(goodput.show(interval))}</td>'
        rows.append(f"<tr><td>{_text(mix)}</td>{values}<td>{_text(algorithm)}</td>{shown}</tr>")
    heads = ["competitors", *labels, "algorithm", "goodput of a flow"]
    return ["<h2>Competing algorithms</h2>", _table(heads, rows, sortable=True)]


def _catalog() -> dict[str, dict[str, Any]]:
    return {entry["name"]: entry for entry in json.loads(_engine.catalog())["congestion"]}


def _tag(comparison: Comparison, label: str) -> str:
    """Whether the models follow their sources in every rule."""
    (competitor,) = (one for one in comparison.design.competitors if one.label == label)
    catalog = _catalog()
    kinds = {catalog[name]["provenance"] for name in competitor.algorithms if name in catalog}
    return " ".join(f'<span class="tag {kind}">{_text(kind)}</span>' for kind in sorted(kinds))


def _algorithms(comparison: Comparison) -> str:
    from lightlag._explain import PROVENANCE

    catalog = _catalog()
    named = dict.fromkeys(name for one in comparison.design.competitors for name in one.algorithms)
    rows = []
    for name in named:
        if name in catalog:
            entry = catalog[name]
            kind = entry["provenance"]
            tag = f'<span class="tag {kind}">{_text(kind)}</span>'
            rows.append(f"<tr><td>{_text(name)}</td><td>{tag}</td><td class=source>{_text(entry['source'])}</td></tr>")
    notes = "".join(f"<li>{_text(text)}</li>" for text in PROVENANCE.values())
    return _table(["algorithm", "model", "source"], rows) + f"<ul>{notes}</ul>"


def _figure(kind: str, vector: str, caption: str) -> str:
    return f'<figure id="{_text(kind)}">{_inline(vector, kind)}<figcaption>{_text(caption)}</figcaption></figure>'


def _sky(comparison: Comparison) -> list[str]:
    """The globe of a scenario with a constellation, with the ways of its first pairs."""
    if not comparison.scenario.get("constellation"):
        return []
    from lightlag import constellation, constellation_player

    try:
        sky = constellation.sky(comparison.scenario)
    except (InputError, ScenarioError) as error:
        # A report may be written where the file with the orbits no longer is.
        return ["<h2>Constellation</h2>", f"<p>The sky cannot be drawn: {_text(error)}</p>"]
    flows = ((flow["from"], flow["to"]) for flow in comparison.scenario["flows"])
    pairs = [pair for pair in dict.fromkeys(flows) if set(pair) <= set(sky.stations)][:_MOST_PAIRS]
    longest = max((one.simulated_s for one in comparison.outcomes), default=0.0) or 60.0
    until_s = min(longest, _LONGEST_SKY)
    which = "The first scenario: " if any(one.label for one in comparison.design.variables) else ""
    about = f"{which}{len(sky.satellites)} satellites for {until_s:g} s from {sky.start} on."
    return [
        "<h2>Constellation</h2>",
        f"<p>{_text(about)}</p>",
        constellation_player.player(sky, pairs=pairs, until_s=until_s),
    ]


def _inline(vector: str, kind: str) -> str:
    """An SVG file as a part of a page: without its head, with names of its own, with colours that the page sets."""
    from lightlag import style

    vector = vector[vector.index("<svg") :]
    vector = re.sub(r"<metadata>.*?</metadata>", "", vector, flags=re.DOTALL)
    vector = re.sub(r"<style.*?</style>", "", vector, flags=re.DOTALL)
    vector = re.sub(r"<!--.*?-->", "", vector, flags=re.DOTALL)
    prefix = re.sub(r"[^A-Za-z0-9]+", "-", kind)
    vector = re.sub(r'\bid="([^"]+)"', rf'id="{prefix}-\1"', vector)
    vector = re.sub(r'xlink:href="#([^"]+)"', rf'href="#{prefix}-\1"', vector)
    vector = re.sub(r"url\(#([^)]+)\)", rf"url(#{prefix}-\1)", vector)
    head = re.match(r"<svg[^>]*>", vector)
    assert head is not None, "matplotlib writes an SVG"
    box = re.search(r'viewBox="[^"]+"', head[0])
    width = re.search(r'width="([\d.]+)pt"', head[0])
    size = f' style="width:{width[1]}pt"' if width else ""
    opening = f'<svg role="img" aria-label="{_text(kind)}" {box[0] if box else ""}{size}>'
    names = {"#ffffff": "paper", style.BLACK: "ink", style.GREY: "grey", style.RC["grid.color"]: "grid"}
    names |= {colour: f"c{at}" for at, colour in enumerate(style.COLOURS) if colour != style.BLACK}
    for colour, name in names.items():
        vector = re.sub(rf"(?<=: ){re.escape(colour.lower())}\b", f"var(--{name})", vector)
    return opening + vector[head.end() :].strip()


def _origin(comparison: Comparison, command: str) -> str:
    design = comparison.design
    last = design.seed + design.replications - 1
    facts = [("lightlag", comparison.version), ("seeds", f"{design.seed} to {last}" if last > design.seed else last)]
    if command:
        facts.insert(0, ("command", command))
    facts += [
        (variable.label, f"{'+'.join(variable.keys) or 'scenario'} = {', '.join(variable.values)}")
        for variable in design.variables
    ]
    listed = "".join(f"<dt>{_text(name)}</dt><dd><code>{_text(value)}</code></dd>" for name, value in facts)
    labels = [one.label for one in comparison.variables]
    rows = [
        f"<tr><td>{_text(one.congestion)}</td>{''.join(f'<td>{_text(value)}</td>' for value in one.point)}"
        f'<td class="n">{one.seed}</td><td><code>{_text(one.result_hash)}</code></td></tr>'
        for one in comparison.outcomes
    ]
    scenario = json.dumps(comparison.scenario, indent=2, ensure_ascii=False)
    which = "The first scenario" if any(not one.keys for one in design.variables) else "The scenario"
    return (
        f"<dl>{listed}</dl>"
        f"<details><summary>{which}, with every default</summary><pre>{_text(scenario)}</pre></details>"
        f"<details><summary>Hashes of the {len(rows):,} runs</summary><p>Each run records how long packets wait "
        f"(<code>record.queueing = true</code>), which its hash covers.</p>"
        f"{_table(['algorithm', *labels, 'seed', 'hash'], rows)}</details>"
    )


_STYLE = """
:root { --paper: #ffffff; --ink: #1a1a1a; --grey: #6b6b6b; --grid: #dcdcdc; --soft: #f4f4f4; --link: #0072b2;
  --c0: #0072b2; --c1: #d55e00; --c2: #009e73; --c3: #cc79a7; --c4: #e69f00; --c5: #56b4e9; --c7: #882255; }
@media (prefers-color-scheme: dark) {
  :root { --paper: #16181c; --ink: #e8e8e8; --grey: #a0a0a0; --grid: #34373d; --soft: #212429; --link: #6db7ee;
    --c0: #4aa3df; --c1: #f08033; --c2: #2cc295; --c3: #dd92bd; --c4: #f0b429; --c5: #8ccbf2; --c7: #c4566f; } }
@media print { :root { color-scheme: light; } details { display: none; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 15px/1.5 system-ui, sans-serif; }
main { max-width: 76rem; margin: 0 auto; padding: 1.5rem 1rem 4rem; }
h1 { margin: 0; font-size: 1.7rem; } h2 { margin: 2.2rem 0 0.6rem; font-size: 1.15rem; }
.lead { color: var(--grey); margin: 0.2rem 0 1.2rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: 0.92rem; }
th, td { padding: 0.3rem 0.7rem 0.3rem 0; text-align: left; border-bottom: 1px solid var(--grid); white-space: nowrap; }
th { color: var(--grey); font-weight: 600; } td.n { text-align: right; }
.sortable th { cursor: pointer; } .sortable th[aria-sort=ascending]::after { content: " \\2191"; }
.sortable th[aria-sort=descending]::after { content: " \\2193"; }
td.source { white-space: normal; }
.tag { font-size: 0.75rem; padding: 0 0.4em; border: 1px solid var(--grid); border-radius: 0.6em; color: var(--grey); }
.tag.reconstructed { border-color: var(--c1); color: var(--c1); }
figure { margin: 1.2rem 0 2rem; } figcaption { color: var(--grey); font-size: 0.9rem; max-width: 45rem; }
svg { max-width: 100%; height: auto; display: block; } svg * { stroke-linejoin: round; stroke-linecap: butt; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0.2rem 1rem; }
dt { color: var(--grey); } dd { margin: 0; }
code, pre { font: 0.88em ui-monospace, monospace; } pre { background: var(--soft); padding: 0.8rem; overflow-x: auto; }
dd code { overflow-wrap: anywhere; } details { margin: 0.6rem 0; } summary { cursor: pointer; color: var(--link); }
"""

_SCRIPT = """
for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.tHead.rows[0].cells], body = table.tBodies[0];
  const key = (row, at) => row.cells[at].dataset.at ?? row.cells[at].textContent;
  const sort = at => {
    const up = heads[at].ariaSort !== "ascending";
    heads.forEach(head => head.removeAttribute("aria-sort"));
    heads[at].ariaSort = up ? "ascending" : "descending";
    const compare = (a, b) => {
      const [x, y] = [key(a, at), key(b, at)], [n, m] = [parseFloat(x), parseFloat(y)];
      if (x === "nan" || y === "nan") return (x === "nan") - (y === "nan");
      return (up ? 1 : -1) * (isNaN(n) || isNaN(m) ? x.localeCompare(y) : n - m);
    };
    body.append(...[...body.rows].sort(compare));
  };
  heads.forEach((head, at) => {
    head.addEventListener("click", () => sort(at));
    head.addEventListener("keydown", event => { if (event.key === "Enter") sort(at); });
  });
}
"""
