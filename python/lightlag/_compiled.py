"""The files of compiled classes, which failures of their code name."""

from __future__ import annotations

from lightlag.text.terminal import printable

__all__ = ["located", "remember"]

_FILES: dict[str, str] = {}
"""Files of compiled classes by the names of their algorithms."""


def remember(names: tuple[str, ...], file: str) -> None:
    """Keeps the file of a compiled class, by each name that its algorithm may have."""
    _FILES.update(dict.fromkeys(names, file))


def located(message: str) -> str:
    """Returns the failure of an algorithm with the file next to the line, for a compiled class of this process.

    Examples
    --------
    >>> located("other: on_ack: an exception in line 5")
    'other: on_ack: an exception in line 5'
    """
    name = message.split(":", maxsplit=1)[0]
    file = _FILES.get(name)
    return (
        message if file is None else message.replace("an exception in line ", f"an exception in {printable(file)}:", 1)
    )
