"""The sky of a scenario: where its satellites are, who sees them, and the ways between its stations, without a run.

Examples
--------
>>> import lightlag as ll
>>> sky = ll.sky("starlink-550")
>>> way = sky.way("London", "New York", until_s=10.0)
>>> way["rtt_ms"].round(2).to_list()[:2]
[42.96, 42.95]
"""

from __future__ import annotations

from lightlag.constellation.satellites import Sky, sky

__all__ = ["Sky", "sky"]
