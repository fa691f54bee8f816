"""A bar below the cell of a notebook."""

from __future__ import annotations

import html
import sys
import time
from typing import Any, Self

from lightlag.text.terminal import printable

__all__ = ["Bar", "is_notebook"]

_PATIENCE_S = 0.5
"""Work that ends before shows no bar."""
_INTERVAL_S = 0.2


def is_notebook() -> bool:
    """Whether this process runs the cells of a notebook."""
    module = sys.modules.get("IPython")
    shell = None if module is None else module.get_ipython()
    return getattr(shell, "kernel", None) is not None


class Bar:
    """A bar that appears once work takes a while, and disappears at its end.

    Parameters
    ----------
    name
        Of the work.
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
        """Shows how far the work is, unless it did so just before; without a total the bar only moves."""
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
    """HTML for a cell, and text for those that show none."""

    def __init__(self, text: str) -> None:
        self._text = text

    def _repr_html_(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return ""
