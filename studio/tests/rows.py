"""Tables of runs by the package, in JSON: scenarios by name on input, rows of text by name and title on output."""

from __future__ import annotations

import json
import sys
import tomllib

import lightlag as ll
from lightlag.records import rows as _rows

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
        summary = ll.run(tomllib.loads(text)).summary
        found[name] = [[title, rows] for title, of in TITLES.items() if (rows := of(summary))]
    print(json.dumps(found))


if __name__ == "__main__":
    main()
