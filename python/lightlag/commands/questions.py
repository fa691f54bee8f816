"""The four questions of ``lightlag new scenario``, and the file that follows from the answers."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass

import typer

from lightlag import _engine
from lightlag.errors import InputError
from lightlag.outcomes.variables import quantity
from lightlag.scenario import toml
from lightlag.text.terminal import meant, printable

__all__ = ["PATHS", "Answers", "answers", "named", "text"]


@dataclass(frozen=True)
class Kind:
    """A kind of path, with its typical values."""

    about: str
    rtt: str
    loss: str


PATHS = {
    "geo": Kind("a geostationary satellite", "600 ms", "1e-4"),
    "meo": Kind("a satellite at 8000 km", "150 ms", "1e-4"),
    "leo": Kind("a satellite of a low orbit, without handovers", "50 ms", "1e-4"),
    "moon": Kind("a link to the Moon", "2.7 s", "1e-5"),
    "wan": Kind("a path across a continent", "80 ms", "0"),
    "lan": Kind("a local network", "1 ms", "0"),
}
FEW_PACKETS = 50
"""Minimum size of the queue in packets: a smaller one would drop the bursts of slow start."""
ACCESS_S = 0.2e-3
"""Delay of the link to the gateway, one way."""


@dataclass(frozen=True)
class Answers:
    """The answers to the questions: a kind of path, texts with units, and the name of an algorithm."""

    path: str
    rate: str
    rtt_s: float
    congestion: str


def named(name: str) -> str:
    """Returns the name, if it is valid for a file and a results directory."""
    if not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}", name):
        raise InputError(f"{printable(name)!r:.60} is not a valid name of a scenario; use letters, digits, - and _")
    return name


def answers(*, path: str | None, rate: str | None, rtt: str | None, congestion: str | None) -> Answers:
    """Returns the answers: those given as options, and on a terminal those that the user is prompted for.

    Raises
    ------
    InputError
        If a value is not valid.
    """
    chosen = _path(path or _ask(f"Which path? ({', '.join(PATHS)})", "geo"))
    kind = PATHS[chosen]
    fast = _rate(rate or _ask("How fast is its slowest link?", "20 Mbit/s"))
    time = _time(rtt or _ask("How long is the round trip without queueing?", kind.rtt))
    algorithm = _algorithm(congestion or _ask("Which congestion control? (lightlag list congestion)", "cubic"))
    return Answers(chosen, fast, time, algorithm)


def text(name: str, of: Answers) -> str:
    """Returns the text of the scenario file."""
    kind = PATHS[of.path]
    delay_s = of.rtt_s / 2 - ACCESS_S
    access = f"{ACCESS_S * 1000:g} ms" if delay_s > 0 else "0 s"
    delay = f"{max(delay_s, 0) * 1000:.9g} ms" if delay_s > 0 else f"{of.rtt_s * 500:.9g} ms"
    bits, _ = quantity(of.rate, "bit/s")
    product = (bits or 0.0) * of.rtt_s / 8
    queue = "1 bdp" if product >= FEW_PACKETS * 1500 else f"{FEW_PACKETS} packets"
    timer = ""
    if of.rtt_s >= 1:
        timer = f'tcp = {{ rto = {{ initial = "{3 * of.rtt_s:.3g} s" }} }}  # the default of 1 s is below the RTT\n'
    return f"""\
# {name}: a flow over {kind.about}.
# Every key: lightlag explain KEY. Several algorithms: lightlag compare {name}.toml -c cubic,bbr,hybla

name = "{name}"
duration = "{max(60, round(60 * of.rtt_s))} s"  # maximum; the run ends when every transfer has finished
seed = 1  # another seed draws other losses

[defaults.tcp]
congestion = "{of.congestion}"  # for flows that name none; comparisons replace it

# The access link: fast and short, so that it never limits the flow.
[[links]]
between = ["client", "gateway"]
rate = "1 Gbit/s"
delay = "{access}"

# The bottleneck.
[[links]]
between = ["gateway", "server"]
rate = {toml.one_line(of.rate)}
delay = "{delay}"  # one way: half of the round-trip time, without the other link
queue = "{queue}"  # maximum; also "64 kB", or "1 bdp", the bandwidth-delay product
loss = {kind.loss}  # of each packet; {{ mean = 0.01, burst = 5 }} loses them in bursts

[[flows]]
from = "client"
to = "server"
transfer = "{_size(of)}"  # without this line, the flow sends until the end
{timer}"""


def _size(of: Answers) -> str:
    """Returns the size of a transfer that takes about ten seconds at the rate of the link, or ten round trips if
    longer.
    """
    bits, _ = quantity(of.rate, "bit/s")
    size = (bits or 0.0) / 8 * min(max(10.0, 10 * of.rtt_s), 30.0)
    for unit, factor in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if size >= factor:
            return f"{size / factor:.3g} {unit}"
    return f"{max(round(size), 1000)} B"


def _ask(question: str, usual: str) -> str:
    return str(typer.prompt(question, default=usual)) if is_asked() else usual


def is_asked() -> bool:
    """Whether standard input is a terminal, so that a user can reply to questions."""
    return sys.stdin.isatty()


def _path(given: str) -> str:
    if given not in PATHS:
        raise InputError(
            f"--path: no path {printable(given)!r:.40}; {meant(given, PATHS)}name one of {', '.join(PATHS)}"
        )
    return given


def _rate(given: str) -> str:
    bits, _ = quantity(given, "bit/s")
    if bits is None or not 1 <= bits <= 1e15 or not re.search(r"bit/s\s*$", given):
        raise InputError(f'--rate: {printable(given)!r:.40} is not a rate; write one such as "20 Mbit/s"')
    return given.strip()


def _time(given: str) -> float:
    seconds, unit = quantity(given, "s")
    if seconds is None or unit == "" or not 0 <= seconds <= 3600:
        raise InputError(f'--rtt: {printable(given)!r:.40} is not a time up to an hour; write one such as "600 ms"')
    return seconds


def _algorithm(given: str) -> str:
    name = _engine.congestion_name(given.strip())
    if name is None:
        from lightlag.scenario import congestion_names

        guess = meant(given, congestion_names())
        raise InputError(f'--congestion: no algorithm {printable(given)!r:.40}; {guess}see "lightlag list congestion"')
    return name
