"""Text from elsewhere as a terminal may show it."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from typing import TextIO

__all__ = ["meant", "plain", "printable", "say"]

_HIDDEN = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff"
    r"\U000e0000-\U000e0fff]"
)
"""Control characters, those that change the direction of a line or stand in it unseen, and halves of characters."""


def printable(text: object, keep: str = "") -> str:
    r"""A text whose control characters, invisible and bidirectional ones are written as escapes.

    Parameters
    ----------
    keep
        Those that stay, such as line breaks in a message.

    Examples
    --------
    >>> print(printable("a\x1b[31m\u202eb"))
    a\x1b[31m\u202eb
    """
    return _HIDDEN.sub(lambda found: found[0] if found[0] in keep else _escape(found[0]), str(text))


def say(text: object, file: TextIO | None = None) -> None:
    """Prints a text, with what a terminal would act upon as escapes."""
    print(printable(text, keep="\n\t"), file=sys.stdout if file is None else file)


def meant(word: str, names: Iterable[str]) -> str:
    """The name that was most likely meant, as the start of a remedy; nothing where none is near.

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
    """JSON in ASCII without the one control character that its writer leaves as it is."""
    return text.replace("\x7f", "\\u007f")


def _escape(character: str) -> str:
    code = ord(character)
    if character in "\n\r\t":
        return {"\n": "\\n", "\r": "\\r", "\t": "\\t"}[character]
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
