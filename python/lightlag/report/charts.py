"""The charts of a report, as data for the script that draws them; the engine makes them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["Chart", "Panel", "read"]


@dataclass(frozen=True, slots=True)
class Panel:
    """A panel of a chart."""

    says: str
    """The content of the panel in a sentence."""
    plain: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Chart:
    """A figure of one or more panels.

    Attributes
    ----------
    group
        Charts of one group zoom together.
    panel_width
        Minimum width of a panel in rem; narrower panels are stacked.
    """

    name: str
    title: str
    caption: str
    panels: Sequence[Panel]
    group: str
    panel_width: int

    def to_json(self) -> dict[str, Any]:
        """Returns the chart as plain values for JSON."""
        return {"group": self.group, "panels": [panel.plain for panel in self.panels]}


def read(text: str) -> list[Chart]:
    """Reads charts that the engine has written as JSON."""
    return [
        Chart(**chart | {"panels": [Panel(panel.pop("says"), panel) for panel in chart["panels"]]})
        for chart in json.loads(text)
    ]
