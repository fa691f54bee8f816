"""Films of figures, as GIF or MP4."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from lightlag.errors import InputError
from lightlag.files.output import MADE_BY, new_file

__all__ = ["WRITERS", "writable", "write"]

WRITERS = {".gif": "pillow", ".mp4": "ffmpeg"}


def writable(path: str | os.PathLike[str]) -> Path:
    """Returns the path of a film, whose suffix decides the format (.gif, .mp4)."""
    from matplotlib.animation import writers

    path = Path(path)
    suffix = path.suffix.lower()
    if suffix not in WRITERS:
        raise InputError(f'{path}: "{suffix}" is not a format of films; end the name in {", ".join(WRITERS)}')
    if not writers.is_available(WRITERS[suffix]):
        raise InputError(f"{path}: {WRITERS[suffix]} is not installed; write a .gif")
    return path


def write(
    figure: Figure,
    draw: Callable[[float], None],
    times: Sequence[float],
    path: Path,
    per_second: int,
    progress: Callable[[int, int], None] | None = None,
) -> None:
    """Writes a film: `draw` renders the frame of a given time into the figure.

    Frames may increase the height of the figure, for rows of their legend. The last frame, which has the most rows,
    sets all heights.
    """
    from matplotlib.animation import FuncAnimation

    first = float(figure.get_figheight())
    draw(float(times[-1]))
    height = float(figure.get_figheight())

    def picture(time_s: float) -> list[Any]:
        figure.set_figheight(first)
        draw(float(time_s))
        figure.set_figheight(height)
        return []

    film = FuncAnimation(figure, picture, frames=list(times), blit=False, init_func=lambda: [])
    suffix = path.suffix.lower()
    with new_file(path) as partial:
        # The writer takes its format from the suffix, which the unfinished file lacks.
        named = partial.with_name(partial.name + suffix)
        about = {"comment": MADE_BY}
        film.save(named, writer=WRITERS[suffix], fps=per_second, dpi=100, progress_callback=progress, metadata=about)
        if suffix == ".gif":
            _sign(named)
        named.replace(partial)


def _sign(gif: Path) -> None:
    """Adds a comment with the name lightlag to a GIF, before its last byte (GIF89a, 24)."""
    comment = MADE_BY.encode()
    with gif.open("r+b") as file:
        file.seek(-1, os.SEEK_END)
        file.write(b"\x21\xfe" + bytes([len(comment)]) + comment + b"\0\x3b")
