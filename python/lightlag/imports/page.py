"""A scenario of what a file says, with a comment for each value."""

from __future__ import annotations

import re
import tempfile
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from lightlag import _toml
from lightlag._text import printable
from lightlag.errors import InputError, ScenarioError
from lightlag.imports import texts
from lightlag.imports.found import Found, Motion, Options, Row
from lightlag.variables import quantity

__all__ = ["Page", "write"]

LONGEST_RUN_S = 480 * 3600.0
_ORDINARY = (("client", "server"), ("server", "client"))


@dataclass(frozen=True)
class Page:
    """A scenario and the files to which it refers."""

    name: str
    text: str
    """The scenario file."""
    files: dict[str, str]
    """The files beside it, by name."""

    def check(self) -> None:
        """Reads the scenario as a run does.

        Raises
        ------
        InputError
            If it cannot be run.
        """
        from lightlag.scenario.reading import read_scenario

        with tempfile.TemporaryDirectory(prefix=".lightlag-import-") as folder:
            scenario = Path(folder) / f"{self.name}.toml"
            for name, text in {scenario.name: self.text, **self.files}.items():
                (Path(folder) / name).write_text(text, encoding="utf-8", newline="\n")
            try:
                read_scenario(str(scenario)).counts()
            except ScenarioError as error:
                reasons = "\n".join(f"{place}: {message}" for place, message in error.errors)
                raise InputError(f"what the file says makes no scenario that runs:\n{reasons}") from None


def write(path: Path, found: Found, name: str | None, options: Options) -> Page:
    """The scenario of a file.

    Raises
    ------
    InputError
        If something is missing that a link needs, or no scenario follows from the file.
    """
    name = _named(path, name)
    lines = [
        *_comment(f"{found.title} From {printable(path.name)}."),
        *(line for note in found.notes for line in _comment(note)),
        "",
    ]
    lines += [f"name = {_toml.one_line(name)}", f'duration = "{_seconds(found.duration_s)}"', ""]
    files: dict[str, str] = {}
    if found.written is not None:
        lines += found.written.lines
        files |= found.written.files
    elif found.motion is not None:
        lines += _moving(name, found.motion, files)
    else:
        lines += _wired(path, name, found, options, files)
    page = Page(name, "\n".join(lines) + "\n", files)
    page.check()
    return page


def _named(path: Path, name: str | None) -> str:
    if name is None:
        name = re.sub(r"[^A-Za-z0-9_-]+", "-", path.name.split(".")[0] or path.name).strip("-")[:60] or "imported"
    elif not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}", name):
        raise InputError(f"--name {printable(name)!r:.60}: files are named so; write letters, digits, - and _")
    return name


def _comment(text: str) -> Iterator[str]:
    for line in textwrap.wrap(printable(text), 116, break_on_hyphens=False):
        yield f"# {line}"


def _wired(path: Path, name: str, found: Found, options: Options, files: dict[str, str]) -> Iterator[str]:
    """A link between client and server, and a flow over it."""
    rate, delay = _rate(path, found, options), _delay(path, found, options)
    yield "[[links]]"
    yield 'between = ["client", "server"]'
    yield from _said("rate", rate)
    yield from _said("delay", delay)
    yield from _said("queue", ("1 bdp", "not measured: a bandwidth-delay product"))
    has_rows = len(found.rows) > 1
    if has_rows or found.opportunities is not None:
        yield f"trace = {_trace(name, found, rate[0], files)}"
    if found.loss and not (has_rows and any(row.loss is not None for row in found.rows)):
        yield from _losses(found)
    sender, receiver = _ORDINARY[found.is_backward]
    yield ""
    yield "[[flows]]"
    yield f'from = "{sender}"'
    yield f'to = "{receiver}"'
    yield from _application(found)


def _application(found: Found) -> Iterator[str]:
    if found.is_udp and found.rate is not None:
        yield 'transport = "udp"'
        yield f'traffic = {{ kind = "constant", rate = "{_bits(found.rate.value)}" }}  # {found.rate.origin}'
        return
    if found.transfer is not None:
        yield from _said("transfer", (f"{found.transfer.value:.0f} B", found.transfer.origin))
    if found.congestion is not None:
        from lightlag import _engine

        name, origin = found.congestion
        known = _engine.congestion_name(name)
        if known is None:
            yield from _comment(f'congestion = "{printable(name)}" ({origin}) is not known here')
        else:
            yield from _said("congestion", (known, origin))
    if found.mss is not None and 88 <= found.mss.value <= 9000:
        yield f'tcp = {{ mss = "{found.mss.value:.0f} B" }}  # {found.mss.origin}'


def _said(key: str, value: tuple[str, str]) -> Iterator[str]:
    text, origin = value
    yield f"{key} = {_toml.one_line(text)}" + (f"  # {printable(origin)}" if origin else "")


def _rate(path: Path, found: Found, options: Options) -> tuple[str, str]:
    if options.rate is not None:
        return options.rate, "given with --rate"
    if found.rate is None:
        texts.fail(path, 'has no rate; give that of the link, as --rate "20 Mbit/s"')
    return _bits(found.rate.value), found.rate.origin


def _delay(path: Path, found: Found, options: Options) -> tuple[str, str]:
    if options.delay is not None:
        return options.delay, "given with --delay"
    if found.delay is None:
        texts.fail(path, 'has no delay; give that of the link, as --delay "20 ms"')
    return _seconds(found.delay.value), found.delay.origin


def _losses(found: Found) -> Iterator[str]:
    sides = {side: measured.value for side, measured in found.loss.items() if measured.value > 0}
    origins = "; ".join(dict.fromkeys(measured.origin for measured in found.loss.values()))
    if sides:
        both = len(set(sides.values())) == 1 and len(sides) == 2
        value = _toml.one_line(next(iter(sides.values())) if both else sides)
        yield f"loss = {value}  # {printable(origins)}"


def _trace(name: str, found: Found, rate: str, files: dict[str, str]) -> str:
    """The value of the key trace; its file is added."""
    value: str | dict[str, str]
    if found.opportunities is not None:
        file = f"{name}.opportunities"
        files[file] = found.opportunities
        value = {"file": file, "format": "mahimahi"}
    else:
        value = f"{name}-trace.csv"
        files[value] = _csv(found.rows, quantity(rate, "bit/s")[0] or 0.0)
    return _toml.one_line(value if found.side is None else {found.side: value})


def _csv(rows: list[Row], usual_bps: float) -> str:
    """Rows as a trace; a value that a row does not have stays as it was."""
    names = {"rate_bps": [row.rate_bps for row in rows], "delay_s": [row.delay_s for row in rows]}
    names["loss"] = [row.loss for row in rows]
    kept = {key: _filled(values) for key, values in names.items() if any(value is not None for value in values)}
    if "rate_bps" in kept and not any(names["rate_bps"]):
        # Only outages are told: at other times the rate is that of the link.
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
    """Nodes with radios on a medium, and a flow from the first to the last."""
    file = f"{name}-paths.{'csv' if motion.format == 'csv' else 'movements'}"
    files[file] = motion.file
    yield "[[media]]"
    yield from _said("rate", ("24 Mbit/s", "not in the file: a rate of 802.11"))
    yield from _said("routing", ("aodv", "not in the file"))
    yield from _comment(
        f"The nodes are up to {motion.span_m:.4g} m from the first one at the start: power decides who hears whom."
    )
    for node in motion.nodes:
        mobility = {"model": "trace", "file": file, "format": motion.format, "node": node}
        yield ""
        yield "[[nodes]]"
        yield f"name = {_toml.one_line(_node(node))}"
        yield f"mobility = {_toml.one_line(mobility)}"
    yield ""
    yield "[[flows]]"
    yield f"from = {_toml.one_line(_node(motion.nodes[0]))}"
    yield f"to = {_toml.one_line(_node(motion.nodes[-1]))}"


def _node(name: str) -> str:
    return f"node{name}"


def _bits(bps: float) -> str:
    for unit, factor in (("Gbit/s", 1e9), ("Mbit/s", 1e6), ("kbit/s", 1e3)):
        if bps >= factor:
            return f"{bps / factor:.6g} {unit}"
    return f"{max(bps, 1):.6g} bit/s"


def _seconds(time: float) -> str:
    if time >= 1 or time == 0:
        return f"{min(time, LONGEST_RUN_S):.10g} s"
    return f"{time * 1000:.9g} ms" if time >= 1e-6 else "0 s"
