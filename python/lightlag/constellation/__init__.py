"""The constellation of a scenario: positions and visibility of its satellites, and the paths between its stations,
without a run.

Examples
--------
>>> import lightlag as ll
>>> sky = ll.sky("starlink-550")
>>> path = sky.path("London", "New York", until_s=10.0)
>>> path["rtt_ms"].round(2).to_list()[:2]
[42.96, 42.95]
"""

from __future__ import annotations

from lightlag.constellation.satellites import Sky, sky

__all__ = ["Sky", "sky"]
