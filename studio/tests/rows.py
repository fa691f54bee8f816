"""Reads scenarios by name as JSON, and writes the package's tables (as text) and charts of their runs as JSON."""

from __future__ import annotations

import json
import sys
import tomllib

import lightlag as ll
from lightlag.records import rows as _rows
from lightlag.report.timeline import timeline

TITLES = {
    "Flows": _rows.flow_rows,
    "Links": _rows.link_rows,
    "Proxies": _rows.proxy_rows,
    "Media": _rows.medium_rows,
    "Radios": _rows.radio_rows,
}


def main() -> None:
    found = {}
    for name, text in json.load(sys.stdin).items():
        run = ll.run(tomllib.loads(text))
        tables = [[title, rows] for title, of in TITLES.items() if (rows := of(run.summary))]
        charts = [
            {key: getattr(chart, key) for key in ("name", "title", "caption", "group", "panel_width")}
            | {"panels": [{"says": panel.says} | panel.plain for panel in chart.panels]}
            for chart in timeline(run)
        ]
        found[name] = {"tables": tables, "charts": charts}
    print(json.dumps(found))


if __name__ == "__main__":
    main()
