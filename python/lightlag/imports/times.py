"""Times in tables: numbers with a unit or since 1970, dates of several countries, times of day.

A plain number near the present is a time since 1970, whose magnitude gives its unit: 1.7e9 are seconds, 1.7e12
milliseconds, 1.7e15 microseconds and 1.7e18 nanoseconds. No measurement lasts 50,000 years.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta, timezone
from email.utils import mktime_tz, parsedate_tz

__all__ = ["DIGITS", "FIRST_EPOCH_S", "FORMS", "after_midnight", "day_first", "epoch_factor", "has_zone", "instant"]

_EPOCHS = ((1e17, 1e-9, "nanoseconds"), (1e14, 1e-6, "microseconds"), (1e11, 1e-3, "milliseconds"))
FIRST_EPOCH_S = 1e8
"""Minimum of a number of seconds that counts since 1970 rather than since the start of a measurement."""
FORMS = ("d/m/y", "m/d/y")
"""Orders of day and month, written as units of a time column."""
_DAY_S = 86_400.0
_MAX_LENGTH = 100
"""Maximum number of characters of a date."""
_CLOCK = re.compile(r"^(\d{1,2}):(\d\d)(?::(\d\d(?:[.,]\d+)?))?\s*([AaPp]\.?[Mm]\.?)?$")
_DATE = re.compile(r"^(\d{1,2})([./-])(\d{1,2})\2(\d{2}|\d{4})(?:[ T,]+(.*))?$")
_YEAR_FIRST = re.compile(r"^(\d{4})[/.](\d{1,2})[/.](\d{1,2})(?:[ T]+(.*))?$")
DIGITS = re.compile(r"(?:19|20)\d{2}[01]\d[0-3]\d[0-2]\d[0-5]\d[0-5]\d")
"""Matches a date without separators, such as 20260131120000."""
_NAMED_ZONES = {
    **{"Z": 0, "UTC": 0, "GMT": 0, "WET": 0, "WEST": 1, "CET": 1, "CEST": 2, "EET": 2, "EEST": 3},
    **{"EDT": -4, "EST": -5, "CDT": -5, "CST": -6, "MDT": -6, "MST": -7, "PDT": -7, "PST": -8},
}
"""Hours of the zones of RFC 5322 §4.3 and of Europe, which `date` prints by their names."""
_ZONE = re.compile(rf"(?:\s*(Z|UTC|GMT|[+-]\d{{2}}:?\d{{2}})|\s+({'|'.join(_NAMED_ZONES)}))$", re.IGNORECASE)


def epoch_factor(value: float) -> tuple[float, str] | None:
    """Returns the seconds and the name of the unit of a number since 1970 that cannot be seconds.

    Examples
    --------
    >>> epoch_factor(1.7e12), epoch_factor(1.7e9)
    ((0.001, 'milliseconds'), None)
    """
    return next(((factor, name) for least, factor, name in _EPOCHS if abs(value) >= least), None)


def has_zone(text: str) -> bool:
    """Returns true if a time ends with its zone.

    Examples
    --------
    >>> has_zone("2026-01-31T12:00:00Z"), has_zone("2026-01-31 12:00:00 +0100"), has_zone("2026-01-31")
    (True, True, False)
    """
    return ":" in text and _ZONE.search(text.strip()) is not None


def day_first(texts: Sequence[str]) -> bool | None:
    """Returns true if dates with slashes start with the day, false if with the month.

    Only dates that are possible in one order alone decide; None if there are none.

    Examples
    --------
    >>> day_first(["31/01/2026"]), day_first(["01/31/2026"]), day_first(["01/02/2026"])
    (True, False, None)
    """
    for text in texts:
        found = _DATE.match(text.strip())
        if found is None or found[2] == ".":
            continue
        if int(found[1]) > 12:
            return True
        if int(found[3]) > 12:
            return False
    return None


def instant(text: str, *, is_day_first: bool | None, ask: Callable[[], None]) -> float | None:
    """Returns seconds since 1970, or since midnight for a time of day; None for a text that is neither.

    Parameters
    ----------
    is_day_first
        The order of dates with slashes, if it is known.
    ask
        Function that is called for a date whose order is not known; it must raise an exception.
    """
    text = text.strip()
    if len(text) > _MAX_LENGTH:
        return None
    if (clock := _clock(text)) is not None:
        return clock
    zone_text = _ZONE.search(text)
    try:
        when = datetime.fromisoformat(text[: zone_text.start()] if zone_text else text)
        return _since_1970(when, _zone(zone_text))
    except ValueError:
        pass
    if DIGITS.fullmatch(text):
        return _of_parts(int(text[:4]), int(text[4:6]), int(text[6:8]), f"{text[8:10]}:{text[10:12]}:{text[12:]}")
    if (parts := parsedate_tz(text)) is not None and parts[0] >= 1970 and re.search("[A-Za-z]{3}", text):
        try:
            return float(mktime_tz(parts))
        except (ValueError, OverflowError):
            return None
    if year := _YEAR_FIRST.match(text):
        return _of_parts(int(year[1]), int(year[2]), int(year[3]), year[4])
    date = _DATE.match(text)
    if date is None:
        return None
    first, second, year_ = int(date[1]), int(date[3]), int(date[4])
    if date[2] != "." and is_day_first is None:
        ask()
    day, month = (first, second) if date[2] == "." or is_day_first else (second, first)
    return _of_parts(year_ + 2000 * (year_ < 100), month, day, date[5])


def _of_parts(year: int, month: int, day: int, rest: str | None) -> float | None:
    rest = (rest or "").strip()
    zone_text = _ZONE.search(rest)
    clock = _clock(rest[: zone_text.start()] if zone_text else rest) if rest else 0.0
    if clock is None:
        return None
    try:
        midnight = datetime(year, month, day)
    except ValueError:
        return None
    return _since_1970(midnight, _zone(zone_text)) + clock


def _zone(found: re.Match[str] | None) -> str | None:
    return None if found is None else found[1] or found[2]


def _clock(text: str) -> float | None:
    """Returns the seconds since midnight of a time of day."""
    found = _CLOCK.match(text)
    if found is None:
        return None
    hour, minute = int(found[1]), int(found[2])
    second = float((found[3] or "0").replace(",", "."))
    if found[4]:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + 12 * (found[4][0] in "Pp")
    if hour > 24 or minute > 59 or second >= 61:
        return None
    return hour * 3600.0 + minute * 60.0 + second


def _since_1970(when: datetime, zone: str | None) -> float:
    offset = timedelta()
    if zone and zone.upper() in _NAMED_ZONES:
        offset = timedelta(hours=_NAMED_ZONES[zone.upper()])
    elif zone:
        digits = zone[1:].replace(":", "")
        offset = timedelta(hours=int(digits[:2]), minutes=int(digits[2:])) * (-1 if zone[0] == "-" else 1)
    return when.replace(tzinfo=timezone(offset) if offset else UTC).timestamp()


def after_midnight(before: float, now: float) -> float:
    """Returns the seconds to add to a time of day that follows another: a day if midnight has passed, otherwise 0.

    Examples
    --------
    >>> after_midnight(86_399.0, 1.0), after_midnight(10.0, 11.0)
    (86400.0, 0.0)
    """
    return _DAY_S if now < before - _DAY_S / 2 else 0.0
