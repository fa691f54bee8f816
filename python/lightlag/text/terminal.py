"""Untrusted text, made safe for a terminal."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable
from typing import TextIO

__all__ = ["meant", "plain", "print_json", "printable", "say"]

_HIDDEN = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff"
    r"\U000e0000-\U000e0fff]"
)
"""Matches control characters, invisible characters, characters that change the text direction, and lone surrogates."""


def printable(text: object, keep: str = "") -> str:
    r"""Returns a text in which control, invisible and bidirectional characters are replaced by escapes.

    Parameters
    ----------
    keep
        Characters that are not replaced, such as line breaks in a message.

    Examples
    --------
    >>> print(printable("a\x1b[31m\u202eb"))
    a\x1b[31m\u202eb
    """
    return _HIDDEN.sub(lambda found: found[0] if found[0] in keep else _escape(found[0]), str(text))


def say(text: object, file: TextIO | None = None) -> None:
    """Prints a text with control sequences as escapes."""
    print(printable(text, keep="\n\t"), file=sys.stdout if file is None else file)


def meant(word: str, names: Iterable[str]) -> str:
    """Returns the name that was most likely meant, as the start of a hint; empty if no name is similar.

    Examples
    --------
    >>> meant("HYBAL", ["cubic", "hybla"]), meant("xyz", ["cubic", "hybla"])
    ('did you mean "hybla"? ', '')
    """
    import difflib

    shown = {name.lower(): name for name in names}
    near = difflib.get_close_matches(word.lower(), shown, n=1)
    return f'did you mean "{printable(shown[near[0]])}"? ' if near else ""


def plain(text: str) -> str:
    """Returns JSON in ASCII with the control character DEL, which Python's writer leaves unchanged, as an escape."""
    return text.replace("\x7f", "\\u007f")


def print_json(value: object, *, allow_nan: bool = True) -> None:
    """Prints a value as one line of JSON.

    Raises
    ------
    ValueError
        If it contains a number that JSON cannot represent, which is not allowed.
    """
    print(plain(json.dumps(value, allow_nan=allow_nan)))


def _escape(character: str) -> str:
    code = ord(character)
    if character in "\n\r\t":
        return {"\n": "\\n", "\r": "\\r", "\t": "\\t"}[character]
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
