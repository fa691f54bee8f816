"""Fields of the system information block 19 of 5G NR, by which a terminal finds its satellite and its timing advance.

3GPP TS 38.331, Release 17, ``NTN-Config-r17``: ``EphemerisInfo-r17`` (position and velocity in the Earth-fixed frame),
``TA-Info-r17``, ``EpochTime-r17``. TS 38.213 §4.2 defines the common timing advance: with Δt the time since the epoch,
the one-way delay between the satellite and the reference point of uplink timing is
(ta-Common + ta-CommonDrift Δt + ta-CommonDriftVariant Δt²) / 2.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from lightlag.errors import InputError

__all__ = ["FIELDS", "VALIDITIES", "Field", "decoded", "encoded", "epoch", "offset"]


@dataclass(frozen=True)
class Field:
    """An integer field.

    Attributes
    ----------
    step
        Value of one step, in ``unit``.
    unit
        Unit of the value.
    min, max
        Bounds of the integer.
    """

    step: float
    unit: str
    min: int
    max: int


_POSITION = Field(1.3, "m", -33_554_432, 33_554_431)
_VELOCITY = Field(0.06, "m/s", -131_072, 131_071)

FIELDS: Mapping[str, Field] = {
    **{f"position{axis}": _POSITION for axis in "XYZ"},
    **{f"velocityV{axis}": _VELOCITY for axis in "XYZ"},
    "ta-Common": Field(4.072e-3, "µs", 0, 66_485_757),
    "ta-CommonDrift": Field(0.2e-3, "µs/s", -257_303, 257_303),
    "ta-CommonDriftVariant": Field(0.2e-4, "µs/s²", 0, 28_949),
}
"""Fields with a granularity, by name."""

VALIDITIES = (5, 10, 15, 20, 25, 30, 35, 40, 45, 50, 55, 60, 120, 180, 240, 900)
"""Values of ``ntn-UlSyncValidityDuration``, in seconds."""

MAX_OFFSET, MAX_KMAC = 1023, 512
"""Maximum of ``cellSpecificKoffset`` and ``kmac``, in slots of 1 ms (subcarrier spacing of 15 kHz)."""


def encoded(name: str, value: float) -> int:
    """Returns the integer of a field that is nearest to a value.

    Raises
    ------
    InputError
        If the field cannot hold the value.

    Examples
    --------
    >>> encoded("positionX", 6_928_137.0), encoded("velocityVY", -7_000.0)
    (5329336, -116667)
    """
    field = FIELDS[name]
    number = round(value / field.step)
    if not field.min <= number <= field.max:
        raise InputError(
            f"{name}: {value:.6g} {field.unit} is not between {field.min * field.step:.6g} and "
            f"{field.max * field.step:.6g} {field.unit}, the bounds of TS 38.331"
        )
    return number


def decoded(name: str, number: int) -> float:
    """Returns the value of an integer of a field.

    Examples
    --------
    >>> decoded("ta-Common", 58_629_666)
    238739.999952
    """
    return number * FIELDS[name].step


def epoch(time_s: float) -> tuple[int, int]:
    """Returns the system frame number and the subframe number at a time, if frame 0 starts with the run.

    Examples
    --------
    >>> epoch(10.253)
    (1, 3)
    """
    subframes = round(time_s * 1e3)
    return subframes // 10 % 1024, subframes % 10


def offset(name: str, seconds: float, most: int) -> int:
    """Returns the number of slots of 1 ms that cover a time."""
    slots = max(math.ceil(seconds * 1e3 - 1e-9), 1)
    if slots > most:
        raise InputError(f"{name}: {seconds * 1e3:.1f} ms is above {most} ms, the maximum of TS 38.331")
    return slots
