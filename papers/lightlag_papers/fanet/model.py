"""A model of a swarm's connectivity (paths, links and hops), which shares no code with the simulator.

Gauss-Markov mobility in three dimensions as in ns-3: every Δt, speed v, direction θ and pitch φ are updated by x
← α x + (1-α) x̄ + sqrt(1-α²) N, and the node flies straight until the next step. At a wall, the component of the
velocity towards the wall is reversed, and the mean direction or pitch is reflected accordingly. α, Δt and the
noise are taken from the example in ns-3's documentation; the noise of the speed is zero.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.float64]

BOX_M = (400.0, 400.0, 100.0)
ALPHA = 0.85
STEP_S = 0.5
DIRECTION_VARIANCE, DIRECTION_BOUND = 0.2, 0.4
PITCH_VARIANCE, PITCH_BOUND = 0.02, 0.04
MEAN_PITCH = 0.05
"""Maximum mean pitch in rad; the minimum is 0."""


@dataclass(frozen=True)
class Connectivity:
    """Time averages of a swarm.

    Attributes
    ----------
    degree
        Number of neighbours per node.
    connected
        Fraction of the pairs of nodes with a path between them.
    hops
        Mean length of the shortest paths, in hops.
    changes
        Links that appear or disappear per second, as a fraction of all links.
    """

    degree: float
    connected: float
    hops: float
    changes: float


def paths(nodes: int, speed: float, seconds: float, seed: int) -> Numbers:
    """Returns the positions of the nodes in m, as an array indexed by step, node and coordinate."""
    rng = np.random.default_rng(seed)
    box = np.array(BOX_M)
    place = rng.uniform(0, 1, (nodes, 3)) * box
    means = np.stack(
        [rng.uniform(0, speed, nodes), rng.uniform(0, 2 * np.pi, nodes), rng.uniform(0, MEAN_PITCH, nodes)]
    )
    now = means.copy()
    found = [place]
    for _ in range(round(seconds / STEP_S)):
        noise = np.stack(
            [
                np.zeros(nodes),
                _bounded(rng, DIRECTION_VARIANCE, DIRECTION_BOUND, nodes),
                _bounded(rng, PITCH_VARIANCE, PITCH_BOUND, nodes),
            ]
        )
        now = ALPHA * now + (1 - ALPHA) * means + np.sqrt(1 - ALPHA * ALPHA) * noise
        velocity = _velocity(now)
        outside = (place + velocity * STEP_S < 0) | (place + velocity * STEP_S > box)
        velocity[outside] *= -1
        means[1] = np.where(outside[:, 0], np.pi - means[1], means[1])
        means[1] = np.where(outside[:, 1], -means[1], means[1])
        means[2] = np.where(outside[:, 2], -means[2], means[2])
        turned = outside.any(axis=1)
        now[1:, turned] = means[1:, turned]
        place = np.clip(place + velocity * STEP_S, 0, box)
        found.append(place)
    return np.stack(found)


def connectivity(places: Numbers, range_m: float, step_s: float = STEP_S) -> Connectivity:
    """Returns the connectivity of nodes on these paths with a radio range; `step_s` is the time between two rows."""
    _, nodes, _ = places.shape
    pairs = nodes * (nodes - 1)
    degrees, shares, lengths, changes, before = [], [], [], [], None
    for place in places:
        apart = np.linalg.norm(place[:, None] - place[None], axis=2)
        links = (apart <= range_m) & ~np.eye(nodes, dtype=bool)
        steps = shortest(links)
        reached = np.isfinite(steps) & (steps > 0)
        degrees.append(links.sum() / nodes)
        shares.append(reached.sum() / pairs)
        lengths.append(float(steps[reached].mean()) if reached.any() else np.nan)
        if before is not None:
            changes.append((links != before).sum() / max(int(before.sum()), 1) / step_s)
        before = links
    return Connectivity(
        float(np.mean(degrees)),
        float(np.mean(shares)),
        float(np.nanmean(lengths)) if np.isfinite(lengths).any() else float("nan"),
        float(np.mean(changes)) if changes else 0.0,
    )


def shortest(links: npt.NDArray[np.bool_]) -> Numbers:
    """Returns the number of hops between all pairs over symmetric links; infinite if there is no path."""
    nodes = len(links)
    steps = np.full((nodes, nodes), np.inf)
    reached = np.eye(nodes, dtype=bool)
    front, hops = reached, 0
    while front.any():
        steps[front] = hops
        front = (front.astype(np.float64) @ links > 0) & ~reached
        reached = reached | front
        hops += 1
    return steps


def _velocity(now: Numbers) -> Numbers:
    speed, direction, pitch = now
    flat = speed * np.cos(pitch)
    return np.stack([flat * np.cos(direction), flat * np.sin(direction), speed * np.sin(pitch)], axis=1)


def _bounded(rng: np.random.Generator, variance: float, bound: float, count: int) -> Numbers:
    """Returns normally distributed random numbers; values beyond the bound are drawn again."""
    drawn = rng.normal(0, np.sqrt(variance), count)
    while (far := np.abs(drawn) > bound).any():
        drawn[far] = rng.normal(0, np.sqrt(variance), int(far.sum()))
    return drawn
