"""Rain of a scenario from a link budget: the table ``fade`` of a link."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from statistics import NormalDist
from typing import Any

from lightlag.errors import InputError
from lightlag.satellite import propagation
from lightlag.satellite.budget import Budget, Side

FITTED = (0.01, 0.02, 0.03, 0.05, 0.1, 0.2, 0.3, 0.5, 1.0)
"""Percentages of the year that a distribution without an offset is fitted to."""

FITTED_WET = (*FITTED, 2.0, 3.0, 5.0)
"""Percentages of P.1853-1 §2.2; those below the probability of rain are used."""


@dataclass(frozen=True)
class RainFit:
    """A log-normal distribution of the attenuation by rain: A = max(e^X − offset, 0), X normal."""

    mean: float
    """Mean of X."""
    deviation: float
    """Standard deviation of X."""
    offset: float
    """Part of e^X in dB that does not attenuate."""
    curve: tuple[tuple[float, float], ...]
    """The fitted percentages of the year, each with the attenuation in dB that is exceeded for it."""

    def exceeded(self, percentage: float) -> float:
        """Returns the attenuation in dB that is exceeded for a percentage of the time."""
        return max(math.exp(self.mean + self.deviation * _quantile(percentage)) - self.offset, 0.0)

    @property
    def worst_error(self) -> float:
        """Maximum relative deviation from the fitted curve."""
        return max(abs(self.exceeded(percentage) / attenuation - 1) for percentage, attenuation in self.curve)


def _quantile(percentage: float) -> float:
    """Returns the value that a standard normal variable exceeds with this probability."""
    return -NormalDist().inv_cdf(percentage / 100)


def fit(curve: list[tuple[float, float]], probability: float | None = None) -> RainFit:
    """Fits a log-normal distribution to a curve by least squares of ln A (P.1853-1 §2.2, steps A3 and A4).

    Parameters
    ----------
    curve
        Percentages of the year, each with the attenuation in dB that is exceeded for it.
    probability
        Percentage of the year in which it rains; the offset then leaves rain for this time (step C). Without it there
        is no offset.

    Examples
    --------
    >>> rain = fit([(0.1, 5.0), (1.0, 1.2)])
    >>> round(rain.exceeded(0.1), 3), round(rain.exceeded(1), 3)
    (5.0, 1.2)
    """
    points = [(percentage, loss) for percentage, loss in curve if loss > 0]
    if probability is not None:
        points = [(percentage, loss) for percentage, loss in points if percentage < probability]
    if len(points) < 2:
        raise InputError("the station has almost no rain: fewer than two attenuations above 0 dB to fit; omit fade")
    quantiles = [_quantile(percentage) for percentage, _ in points]
    logarithms = [math.log(loss) for _, loss in points]
    middle, level = sum(quantiles) / len(points), sum(logarithms) / len(points)
    square = sum((x - middle) ** 2 for x in quantiles)
    deviation = sum((x - middle) * (y - level) for x, y in zip(quantiles, logarithms, strict=True)) / square
    mean = level - deviation * middle
    offset = 0.0 if probability is None else math.exp(mean + deviation * _quantile(probability))
    return RainFit(mean, deviation, offset, tuple(points))


def rain_fit(budget: Budget, side: Side, *, dry: bool = False) -> RainFit:
    """Fits the rain of one hop as a degradation of the Es/N0 of the complete link.

    It is P.618's attenuation by rain, with the noise that rain adds on a downlink, seen through the noise of the other
    hop.

    Parameters
    ----------
    budget
        The link.
    side
        The hop with rain.
    dry
        Whether the distribution has times without rain, by P.1853-1 and the probability of rain of P.837. It then has
        less attenuation than P.618 predicts at percentages close to this probability.
    """
    if side not in budget.hops:
        raise InputError(f"the budget has no {side}; choose {' or '.join(budget.hops)}")
    path, clear = budget.path(side), budget.es_n0()

    def degradation(percentage: float) -> float:
        return clear - budget.es_n0({side: propagation.attenuation(path, percentage).rain})

    curve = [(percentage, degradation(percentage)) for percentage in (FITTED_WET if dry else FITTED)]
    return fit(curve, propagation.rain_probability(path.latitude, path.longitude) if dry else None)


def fade(budget: Budget, side: Side | None = None, *, dry: bool = False) -> dict[str, Any]:
    """Returns the table ``fade`` of a link with the rain of one hop, by default the last one.

    The Es/N0 without rain includes the implementation margin, because thresholds in a scenario are ideal.
    """
    chosen: Side = side or list(budget.hops)[-1]
    rain = rain_fit(budget, chosen, dry=dry)
    table: dict[str, Any] = {
        "mean": round(rain.mean, 4),
        "deviation": round(rain.deviation, 4),
        "clear_sky": f"{budget.es_n0() - budget.implementation_margin:.2f} dB",
        "symbol_rate": f"{budget.symbol_rate / 1e6:g} MBd",
        "modcods": {"table": budget.modcods, "pilots": True} if budget.pilots else budget.modcods,
    }
    if dry:
        table["offset"] = f"{rain.offset:.3f} dB"
    return table


def write_fade(file: Path, link: int, table: dict[str, Any], direction: str | None = None) -> None:
    """Writes the table ``fade`` of a link into a scenario file, and leaves everything else in it as it is.

    Parameters
    ----------
    file
        A scenario in TOML with ``[[links]]``.
    link
        Index of the link, from 0.
    table
        From :func:`fade`.
    direction
        ``"forward"`` or ``"backward"``; by default both.
    """
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    try:
        document = tomlkit.parse(file.read_text("utf-8"))
    except (TOMLKitError, UnicodeDecodeError) as error:
        raise InputError(f"{file}: is not valid TOML: {error}") from None
    links = document.get("links", [])
    if not 0 <= link < len(links):
        raise InputError(f"{file}: links[{link}] does not exist; it has {len(links)} links, counted from 0")
    target = links[link]
    inline = tomlkit.inline_table()
    inline.update(table)
    if direction is None:
        target["fade"] = inline
    else:
        both = tomlkit.inline_table()
        both.update({direction: inline})
        target["fade"] = both
    file.write_text(tomlkit.dumps(document), "utf-8")
