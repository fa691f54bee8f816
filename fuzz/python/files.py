"""Files made of the bytes of an input, and the messages with which they are refused."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from lightlag.text.terminal import printable

__all__ = ["SEPARATOR", "message_of", "put"]

SEPARATOR = b"\n---\n"
"""Line between the files of an input that has several."""
MAX_MESSAGE = 1500
"""Characters of a message."""


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
    """Returns the message of a refusal, after a check that a terminal can show it as one line."""
    message = str(error)
    assert message, "a refusal has a reason"
    assert message == printable(message), f"{message!r} is not one line of text"
    assert len(message) < MAX_MESSAGE, f"{len(message)} characters are no message: {message[:200]}"
    return message
