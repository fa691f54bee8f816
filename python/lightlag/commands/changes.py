"""The changes to a scenario that ``--set``, ``--duration`` and ``--seed`` request."""

from __future__ import annotations

from lightlag.errors import InputError


def changes(sets: list[str] | None, seed: int | None = None, duration: str | None = None) -> list[tuple[str, str]]:
    """Returns dotted paths and values, in the order in which they were given; an empty value removes its key.

    Examples
    --------
    >>> changes(["links.0.loss = 1e-4"], seed=7)
    [('links.0.loss', '1e-4'), ('seed', '7')]
    """
    found = []
    for change in sets or []:
        key, separator, value = change.partition("=")
        if not separator or not key.strip():
            raise InputError(f'--set "{change}": is not KEY=VALUE; write for example --set links.0.loss=1e-4')
        found.append((key.strip(), value.strip()))
    found += [] if duration is None else [("duration", duration)]
    return found if seed is None else [*found, ("seed", str(seed))]
