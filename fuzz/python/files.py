"""Files made of the bytes of an input, and the messages of their errors."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from lightlag.text.terminal import printable

__all__ = ["SEPARATOR", "message_of", "put"]

SEPARATOR = b"\n---\n"
"""Separator line between the files of an input that contains several."""
MAX_MESSAGE = 1500
"""Maximum length of a message in characters."""


def put(names: Sequence[str], data: bytes, folder: Path) -> Path:
    """Writes the parts of an input to files of these names; returns the first. A file without a part is removed."""
    parts = data.split(SEPARATOR, len(names) - 1)
    for at, name in enumerate(names):
        if at < len(parts) and parts[at]:
            (folder / name).write_bytes(parts[at])
        else:
            (folder / name).unlink(missing_ok=True)
    return folder / names[0]


def message_of(error: Exception) -> str:
    """Returns the message of an input error, after a check that a terminal can show it as one line."""
    message = str(error)
    assert message, "an error has a message"
    assert message == printable(message), f"{message!r} is not one line of text"
    assert len(message) < MAX_MESSAGE, f"{len(message)} characters are too long a message: {message[:200]}"
    return message
