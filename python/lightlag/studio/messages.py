"""Messages of the studio: objects in JSON, and the types of the values in a request to the engine."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from lightlag.errors import InputError
from lightlag.text.terminal import printable

__all__ = ["check_types", "parsed_message"]

_HALF = re.compile("[\ud800-\udfff]")
LAST = 2**64 - 1
"""Maximum value of the index of a run, a position or an event."""


def parsed_message(text: str) -> dict[str, Any]:
    """Parses a message with an ``id``. Halves of surrogate pairs become U+FFFD, as in any text that a page encodes.

    Raises
    ------
    ValueError
        If the message is not an object with an ``id`` from 0 to 2^32 - 1.
    """
    try:
        message = json.loads(text)
        if "\\ud" in text or "\\uD" in text:
            message = json.loads(_HALF.sub("\ufffd", json.dumps(message, ensure_ascii=False)))
        number = message["id"]
    except (KeyError, TypeError, RecursionError):
        raise ValueError("not an object with an id") from None
    if not isinstance(number, int) or isinstance(number, bool) or not 0 <= number < 2**32:
        raise ValueError("not an id")
    return dict(message)


def check_types(request: Mapping[str, Any]) -> None:
    """Checks the types of values in a request to the engine, which checks missing keys itself.

    Raises
    ------
    InputError
        If a value has another type.
    """
    for key, (is_right, wanted) in TYPES.items():
        if key in request and not is_right(request[key]):
            raise InputError(f"{key}: {_shown(request[key])} is not {wanted}")


def _shown(value: Any) -> str:
    try:
        return f"{printable(json.dumps(value)):.60}"
    except RecursionError:
        return "it"


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= LAST


def _is_truth(value: Any) -> bool:
    return isinstance(value, bool)


def _are_files(value: Any) -> bool:
    return isinstance(value, dict) and all(map(_is_text, value.values()))


def _are_sets(value: Any) -> bool:
    return isinstance(value, list) and all(
        isinstance(pair, list) and len(pair) == 2 and all(map(_is_text, pair)) for pair in value
    )


def _are_packets(value: Any) -> bool:
    return value is None or isinstance(value, dict)


def _or_none(is_right: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: value is None or is_right(value)


TEXT, NUMBER, COUNT = "a string", "a number", "a whole number of at least 0"
TYPES: dict[str, tuple[Callable[[Any], bool], str]] = {
    "op": (_is_text, TEXT),
    "toml": (_is_text, TEXT),
    "path": (_is_text, TEXT),
    "data": (_is_text, "a base64 string"),
    "files": (_are_files, "a table of names and base64 strings"),
    "sets": (_are_sets, 'a list of pairs of strings; write [["links.0.loss", "1e-4"]]'),
    "packets": (_are_packets, 'a table; write {"to_s": 10, "most": 1000}'),
    "captures": (_is_truth, "true or false"),
    "whole": (_is_truth, "true or false"),
    "seed": (_or_none(_is_count), COUNT),
    "events": (_or_none(_is_count), COUNT),
    "run": (_is_count, COUNT),
    "place": (_is_count, COUNT),
    "from": (_is_count, COUNT),
    "to": (_is_count, COUNT),
    "until_s": (_is_number, NUMBER),
    "time_s": (_is_number, NUMBER),
}
"""Types of values by key; a key has the same type in every request."""
