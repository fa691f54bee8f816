"""A bar below the cell of a notebook."""

from __future__ import annotations

import html
import sys
import time
from typing import Any, Self

from lightlag.text.terminal import printable

__all__ = ["Bar", "is_notebook"]

_PATIENCE_S = 0.5
"""Delay in seconds before a bar appears."""
_INTERVAL_S = 0.2


def is_notebook() -> bool:
    """Returns true if this process runs a notebook."""
    module = sys.modules.get("IPython")
    shell = None if module is None else module.get_ipython()
    return getattr(shell, "kernel", None) is not None


class Bar:
    """A progress bar that appears once the work has taken a while, and disappears at its end.

    Parameters
    ----------
    name
        Name of the work.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._handle: Any = None
        self._next = time.monotonic() + _PATIENCE_S

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._handle is not None:
            self._handle.update(_Shown(""))

    def show(self, done: float, total: float | None, text: str) -> None:
        """Shows the progress of the work, at a limited rate; without a total, the bar only moves."""
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + _INTERVAL_S
        share = "" if not total else f' value="{min(done / total, 1.0):.4f}"'
        said = f"{html.escape(printable(self._name))} <progress{share}></progress> {html.escape(printable(text))}"
        if self._handle is None:
            from IPython.display import display

            self._handle = display(_Shown(said), display_id=True)
        else:
            self._handle.update(_Shown(said))


class _Shown:
    """The bar as HTML, and as text for notebooks that show no HTML."""

    def __init__(self, text: str) -> None:
        self._text = text

    def _repr_html_(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return ""
