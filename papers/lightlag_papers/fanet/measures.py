"""Two statistics of order: Spearman's rank correlation, and the sign test."""

from __future__ import annotations

import math
from collections.abc import Sequence


def spearman(x: Sequence[float], y: Sequence[float]) -> float:
    """Returns Spearman's rank correlation. Equal values share their mean rank; NaN if a sample is constant.

    Examples
    --------
    >>> spearman([40, 50, 60, 70, 80], [9.0, 8.0, 5.0, 6.0, 2.0])
    -0.9
    """
    ranks = [_ranks(x), _ranks(y)]
    middle = (len(x) + 1) / 2
    a, b = ([rank - middle for rank in side] for side in ranks)
    spread = math.sqrt(math.fsum(u * u for u in a) * math.fsum(v * v for v in b))
    product = math.fsum(u * v for u, v in zip(a, b, strict=True))
    return round(product / spread, 12) if spread else math.nan


def _ranks(values: Sequence[float]) -> list[float]:
    ordered = sorted(values)
    return [ordered.index(value) + (ordered.count(value) + 1) / 2 for value in values]


def sign_test(wins: int, count: int) -> float:
    """Returns the p-value of a sign test: the probability of at least `wins` heads in `count` tosses of a fair coin.

    Examples
    --------
    >>> sign_test(9, 10)
    0.0107421875
    """
    return math.ldexp(sum(math.comb(count, k) for k in range(wins, count + 1)), -count)
