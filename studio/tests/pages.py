"""Writes the loads of pages that the package reads from the run of a scenario, as JSON by flow and load."""

from __future__ import annotations

import json
import sys
from typing import Any

import lightlag as ll
from lightlag.records.page_load import PageLoad, page_load


def plain(load: PageLoad) -> dict[str, Any]:
    objects = [
        {
            "name": one.name,
            "connection": one.connection,
            "bytes": one.size,
            "known_s": one.known_s,
            "start_s": one.start_s,
            "firstByte_s": one.first_byte_s,
            "end_s": one.end_s,
        }
        for one in load.objects
    ]
    done = {} if load.took_s is None else {"took_s": load.took_s, "byteIndex_s": load.byte_index_s}
    x, y = load.arrived()
    return {
        "load": {"flow": load.flow, "page": load.page, "objects": objects, **done},
        "connections": load.connections,
        "arrived": {"x": x, "y": y},
    }


def main() -> None:
    run = ll.run(sys.argv[1])
    flows = run.objects["flow"].cast(str).unique(maintain_order=True).to_list()
    loads = {flow: page_load(run, flow).loads for flow in flows}
    found = {flow: [plain(page_load(run, flow, page + 1)) for page in range(count)] for flow, count in loads.items()}
    print(json.dumps(found))


if __name__ == "__main__":
    main()
