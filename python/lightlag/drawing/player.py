"""The page of an animation: the template that the studio's build writes, with the data of a run in it.

``studio/player.html`` and ``studio/src/embed`` are its sources, and ``npm run player`` in ``studio`` builds
``player.html``. It is stored next to this module, so that runs have animations without Node.js.
"""

from __future__ import annotations

import html
import json
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any

__all__ = ["framed", "page"]

_TITLE = "__TITLE__"
_RECORDING = "__RECORDING__"


def page(recording: Mapping[str, Any]) -> str:
    """Returns a self-contained page, which loads nothing from the network.

    Parameters
    ----------
    recording
        The data described by ``studio/src/embed/recording.ts``. Its ``title`` is also the title of the page.
    """
    # An end tag or the start of a comment in a name would change how the script is read.
    data = json.dumps(recording, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")
    before, between, after = _template()
    return f"{before}{html.escape(str(recording['title']))}{between}{data}{after}"


def framed(recording: Mapping[str, Any]) -> str:
    """Returns the page in a frame of a longer one, which has its own styles and keys."""
    title = html.escape(str(recording["title"]), quote=True)
    return f'<iframe class="player" title="{title}" srcdoc="{html.escape(page(recording), quote=True)}"></iframe>'


@cache
def _template() -> tuple[str, str, str]:
    text = resources.files("lightlag.drawing").joinpath("player.html").read_text("utf-8")
    before, rest = text.split(_TITLE)
    between, after = rest.split(_RECORDING)
    return before, between, after
