"""A scenario with the contents of a file, and a comment for each value."""

from __future__ import annotations

import os
import re
import tempfile
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from lightlag.errors import InputError, ScenarioError
from lightlag.imports import texts
from lightlag.imports.found import LONGEST_S, Found, Load, Measured, Motion, Options, Row, Side
from lightlag.outcomes.variables import quantity
from lightlag.scenario import toml
from lightlag.text.terminal import printable

__all__ = ["Page", "write"]

_ORDINARY = (("client", "server"), ("server", "client"))


@dataclass(frozen=True)
class Page:
    """A scenario made from a file, and the files that it refers to."""

    name: str
    text: str
    """Text of the scenario file."""
    files: dict[str, str]
    """Contents of the files next to it, by name."""

    source: Path
    """The measurement file that was read."""
    options: Options
    """The options of the import."""

    def check(self) -> list[tuple[str, str, str]]:
        """Checks the scenario as ``lightlag check`` does; returns name, place and message of each warning.

        Raises
        ------
        InputError
            If it cannot be run.
        """
        from lightlag.scenario import checked

        with tempfile.TemporaryDirectory(prefix=".lightlag-import-") as directory:
            scenario = Path(directory) / f"{self.name}.toml"
            for name, text in {scenario.name: self.text, **self.files}.items():
                (Path(directory) / name).write_text(text, encoding="utf-8", newline="\n")
            try:
                _, read, _ = checked(scenario)
                read.counts()
                return read.named_warnings()
            except ScenarioError as error:
                first, *others = error.errors
                more = f" (and {len(others)} more)" if others else ""
                raise InputError(self._reason(*first).replace(f"{directory}{os.sep}", "") + more) from None

    def _reason(self, place: str, message: str) -> str:
        """Names the option or the file that gives a value which is invalid in a scenario."""
        given = {"links[0].rate": ("--rate", self.options.rate), "links[0].delay": ("--delay", self.options.delay)}
        option, value = given.get(place, ("", None))
        if value is not None:
            return f"{option}: {message}"
        wrong = f"gives an invalid {place}" if place else "does not make a valid scenario"
        return f"{printable(self.source)}: {wrong}: {message}"


def write(path: Path, findings: Found, name: str | None, options: Options) -> Page:
    """Returns the scenario for a file.

    Raises
    ------
    InputError
        If a required value of a link is missing, or the file does not suffice for a scenario.
    """
    name = _named(path, name)
    lines = [
        *_comment(f"{findings.title} From {printable(path.name)}."),
        *(line for note in findings.notes for line in _comment(note)),
        "",
    ]
    lines += [f"name = {toml.one_line(name)}", f'duration = "{_seconds(findings.duration_s)}"', ""]
    files: dict[str, str] = {}
    if findings.written is not None:
        lines += findings.written.lines
        files |= findings.written.files
    elif findings.motion is not None:
        lines += _moving(name, findings.motion, files)
    else:
        lines += _wired(path, name, findings, options, files)
    page = Page(name, "\n".join(lines) + "\n", files, path, options)
    page.check()
    return page


def _named(path: Path, name: str | None) -> str:
    if name is None:
        name = re.sub(r"[^A-Za-z0-9_-]+", "-", path.name.split(".")[0] or path.name).strip("-")[:60] or "imported"
    elif not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}", name):
        raise InputError(f"--name {printable(name)!r:.60}: is not a valid file name; write letters, digits, - and _")
    return name


def _comment(text: str) -> Iterator[str]:
    for line in textwrap.wrap(printable(text), 116, break_on_hyphens=False):
        yield f"# {line}"


def _wired(path: Path, name: str, found: Found, options: Options, files: dict[str, str]) -> Iterator[str]:
    """Yields a link between client and server, and a flow over it."""
    rate, delay = _rate(path, found, options), _delay(path, found, options)
    yield "[[links]]"
    yield 'between = ["client", "server"]'
    yield from _rates(found, rate, options)
    yield from _said("delay", delay)
    yield from _said("queue", ("1 bdp", "not measured: a bandwidth-delay product"))
    directions = [found] if found.other is None else [found, found.other]
    traces = {one.side: _trace(name, one, rate[0], files) for one in directions if _changes(one)}
    if traces:
        both = traces.get(None)
        yield f"trace = {toml.one_line(traces if both is None else both)}"
    yield from _losses(found)
    for one in directions:
        if not one.has_flow:
            continue
        sender, receiver = _ORDINARY[one.is_backward]
        yield ""
        yield "[[flows]]"
        yield f'from = "{sender}"'
        yield f'to = "{receiver}"'
        yield from _application(one) if one.load is None else _loading(name, one.load, files)


def _rates(found: Found, rate: tuple[str, str], options: Options) -> Iterator[str]:
    """Yields the rate of the link, or of each direction."""
    if found.other is None or found.other.rate is None or options.rate is not None:
        yield from _said("rate", rate)
        return
    sides = {found.side or "forward": found, found.other.side or "backward": found.other}
    value = {side: _bits(one.rate.value) for side, one in sorted(sides.items(), reverse=True) if one.rate is not None}
    origins = "; ".join(dict.fromkeys(one.rate.origin for one in sides.values() if one.rate is not None))
    yield f"rate = {toml.one_line(value)}  # {printable(origins)}"


def _changes(found: Found) -> bool:
    return len(found.rows) > 1 or found.opportunities is not None


def _application(found: Found) -> Iterator[str]:
    if found.is_udp and (sent := found.traffic or found.rate) is not None:
        yield 'transport = "udp"'
        size = "" if found.mss is None else f', size = "{min(found.mss.value, 65_507):.0f} B"'
        yield f'traffic = {{ kind = "constant", rate = "{_bits(sent.value)}"{size} }}  # {sent.origin}'
        return
    if found.transfer is not None:
        yield from _said("transfer", (f"{found.transfer.value:.0f} B", found.transfer.origin))
    if found.congestion is not None:
        from lightlag import _engine

        name, origin = found.congestion
        known = _engine.congestion_name(name)
        if known is None:
            yield from _comment(f'congestion = "{printable(name)}" ({origin}) is not an algorithm of lightlag')
        else:
            yield from _said("congestion", (known, origin))
    if found.mss is not None and 88 <= found.mss.value <= 9000:
        yield f'tcp = {{ mss = "{found.mss.value:.0f} B" }}  # {found.mss.origin}'


def _loading(name: str, load: Load, files: dict[str, str]) -> Iterator[str]:
    """Yields the keys of a flow that loads a page."""
    file = f"{name}-page.json"
    files[file] = load.objects
    traffic = {"kind": "page", "file": file, "http": load.http, "count": 1}
    yield f"traffic = {toml.one_line(traffic)}  # {load.http_origin}"
    if load.setup:
        yield f"setup = {toml.one_line(load.setup)}  # {'; '.join(load.setup_origins)}"


def _said(key: str, value: tuple[str, str]) -> Iterator[str]:
    text, origin = value
    yield f"{key} = {toml.one_line(text)}" + (f"  # {printable(origin)}" if origin else "")


def _rate(path: Path, found: Found, options: Options) -> tuple[str, str]:
    if options.rate is not None:
        return options.rate, "given with --rate"
    if found.rate is None:
        texts.fail(path, 'has no rate; give the rate of the link, as --rate "20 Mbit/s"')
    return _bits(found.rate.value), found.rate.origin


def _delay(path: Path, found: Found, options: Options) -> tuple[str, str]:
    if options.delay is not None:
        return options.delay, "given with --delay"
    if found.delay is None:
        texts.fail(path, 'has no delay; give the delay of the link, as --delay "20 ms"')
    return _seconds(found.delay.value), found.delay.origin


def _losses(found: Found) -> Iterator[str]:
    """Yields the loss of the link, unless its trace includes losses."""
    losses: dict[Side, Measured] = {}
    for one in (found, *([found.other] if found.other is not None else [])):
        if not (_changes(one) and any(row.loss is not None for row in one.rows)):
            losses |= one.loss
    sides = {side: measured.value for side, measured in losses.items() if measured.value > 0}
    origins = "; ".join(dict.fromkeys(measured.origin for measured in losses.values() if measured.value > 0))
    if sides:
        both = len(set(sides.values())) == 1 and len(sides) == 2
        value = toml.one_line(next(iter(sides.values())) if both else sides)
        yield f"loss = {value}  # {printable(origins)}"


def _trace(name: str, found: Found, rate: str, files: dict[str, str]) -> str | dict[str, str]:
    """Returns the value of the key ``trace`` for the direction of these facts, and adds the file of the trace."""
    if found.opportunities is not None:
        file = f"{name}.opportunities" if not files else f"{name}-{found.side}.opportunities"
        files[file] = found.opportunities
        return {"file": file, "format": "mahimahi"}
    file = f"{name}-trace.csv" if not files else f"{name}-{found.side}-trace.csv"
    files[file] = _csv(found.rows, quantity(rate, "bit/s")[0] or 0.0)
    return file


def _csv(rows: list[Row], usual_bps: float) -> str:
    """Returns rows as the CSV of a trace; a value that a row does not have stays as it was."""
    names = {"rate_bps": [row.rate_bps for row in rows], "delay_s": [row.delay_s for row in rows]}
    names["loss"] = [row.loss for row in rows]
    kept = {key: _filled(values) for key, values in names.items() if any(value is not None for value in values)}
    if "rate_bps" in kept and not any(names["rate_bps"]):
        # Only outages are listed: at other times the rate is the rate of the link.
        kept["rate_bps"] = [0.0 if row.rate_bps == 0.0 else usual_bps for row in rows]
    lines = [",".join(["time_s", *kept])]
    for at, row in enumerate(rows):
        lines.append(",".join([f"{row.time_s:.9g}", *(f"{values[at]:.9g}" for values in kept.values())]))
    return "\n".join(lines) + "\n"


def _filled(values: list[float | None]) -> list[float]:
    last = next(value for value in values if value is not None)
    filled = []
    for value in values:
        last = last if value is None else value
        filled.append(last)
    return filled


def _moving(name: str, motion: Motion, files: dict[str, str]) -> Iterator[str]:
    """Yields nodes with radios on a medium, and a flow from the first to the last."""
    file = f"{name}-paths.{'csv' if motion.format == 'csv' else 'movements'}"
    files[file] = motion.file
    yield "[[media]]"
    yield from _said("rate", ("24 Mbit/s", "not in the file: a rate of 802.11"))
    yield from _said("routing", ("aodv", "not in the file"))
    yield from _comment(
        f"The nodes are up to {motion.span_m:.4g} m from the first one at the start: "
        "transmission power determines which nodes are in range."
    )
    for node in motion.nodes:
        mobility = {"model": "trace", "file": file, "format": motion.format, "node": node}
        yield ""
        yield "[[nodes]]"
        yield f"name = {toml.one_line(_node(node))}"
        yield f"mobility = {toml.one_line(mobility)}"
    yield ""
    yield "[[flows]]"
    yield f"from = {toml.one_line(_node(motion.nodes[0]))}"
    yield f"to = {toml.one_line(_node(motion.nodes[-1]))}"


def _node(name: str) -> str:
    return f"node{name}"


def _bits(bps: float) -> str:
    for unit, factor in (("Gbit/s", 1e9), ("Mbit/s", 1e6), ("kbit/s", 1e3)):
        if bps >= factor:
            return f"{bps / factor:.6g} {unit}"
    return f"{max(bps, 1):.6g} bit/s"


def _seconds(time: float) -> str:
    if time >= 1 or time == 0:
        return f"{min(time, LONGEST_S):.10g} s"
    return f"{time * 1000:.9g} ms" if time >= 1e-6 else "0 s"
