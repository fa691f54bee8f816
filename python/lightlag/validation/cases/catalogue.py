"""The test cases in the order of the draft's appendix."""

from __future__ import annotations

from lightlag.validation.cases import network, probe_rtt, probing, startup, undo
from lightlag.validation.cases.case import Case

__all__ = ["CASES", "SOURCE"]

SOURCE = "test cases of draft-ietf-ccwg-bbr, working copy of August 2026"

CASES: dict[str, Case] = {
    one.name: one
    for one in (
        *startup.CASES,
        *probing.CASES,
        *probe_rtt.CASES,
        *network.CASES,
        *undo.CASES,
        *probe_rtt.IN_STARTUP,
        *probing.LATE,
    )
}
"""The cases by name."""
