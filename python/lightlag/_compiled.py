"""Source files of compiled classes, for error messages that point into their code."""

from __future__ import annotations

from lightlag.text.terminal import printable

__all__ = ["located", "remember"]

_FILES: dict[str, str] = {}
"""Source files of compiled classes, by the name of their algorithm."""


def remember(names: tuple[str, ...], file: str) -> None:
    """Registers the source file of a compiled class under each name that its algorithm may have."""
    _FILES.update(dict.fromkeys(names, file))


def located(message: str) -> str:
    """Returns an error message of an algorithm.

    If its class was compiled in this process, the file is added to the line.

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
