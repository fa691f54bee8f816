"""``lightlag emulate``: real packets through a scenario, with a table that follows them."""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lightlag._text import plain, say
from lightlag.commands.changes import changes
from lightlag.errors import InputError

if TYPE_CHECKING:
    from rich.table import Table

    from lightlag.emulation import Emulation

File = Annotated[str, typer.Argument(metavar="FILE", help="A scenario in TOML or JSON, or the name of a preset.")]
Pair = tuple[str, str]


def emulate(
    file: File,
    between: Annotated[
        Pair,
        typer.Option(
            "--between",
            metavar="A B",
            help="Two TUN devices, or network namespaces: ns:NAME, ns:NAME/DEVICE. What is not there is made.",
        ),
    ],
    at: Annotated[
        Pair | None,
        typer.Option("--at", metavar="NODE NODE", help="Where they sit; default: the ends of the first flow."),
    ] = None,
    address: Annotated[
        Pair | None,
        typer.Option(
            "--address",
            metavar="A B",
            help="Addresses to give them, with commas between; default in namespaces: 10.77.0.1/24,fd77::1/64 and .2.",
        ),
    ] = None,
    mtu: Annotated[int, typer.Option(min=68, max=65535, help="The largest packet, in bytes.")] = 1500,
    duration: Annotated[
        str | None, typer.Option("--duration", "-d", metavar="TIME", help='Such as "30 s"; default: until Ctrl-C.')
    ] = None,
    sets: Annotated[
        list[str] | None,
        typer.Option("--set", "-s", metavar="KEY=VALUE", help="Change the scenario: links.0.loss=1e-4."),
    ] = None,
    seed: Annotated[int | None, typer.Option(min=0, max=2**63 - 1, help="Start of every random stream.")] = None,
    priority: Annotated[
        str, typer.Option(help="How the loop is scheduled: fifo, nice or normal; the next lower one if not allowed.")
    ] = "fifo",
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object at the end.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No table, no notes.")] = False,
) -> None:
    r"""Forward the real packets of two TUN devices through the links of a scenario, in real time.

    Rate, delay, queues, losses, reordering and marks are those of a simulation of the same file; its flows are not
    run. Needs root, or CAP_NET_ADMIN (and CAP_SYS_ADMIN for namespaces). Devices that were not there are removed at
    the end. For two namespaces:

    \b
      ip netns add left; ip netns add right
      lightlag emulate geo --between ns:left ns:right &
      ip netns exec left ping 10.77.0.2
    """
    from lightlag import _engine
    from lightlag.emulation import ADDRESSES, device
    from lightlag.emulation import emulate as start

    in_namespaces = all(name.startswith("ns:") for name in between)
    if address is not None:
        a, b = (tuple(part.strip() for part in texts.split(",") if part.strip()) for texts in address)
    else:
        a, b = ADDRESSES if in_namespaces else ((), ())
    try:
        duration_s = None if duration is None else _engine.seconds(duration)
    except ValueError as error:
        raise InputError(f"--duration: {error}") from None
    devices = (device(between[0], a), device(between[1], b))
    with (
        _terminated() as asked,
        start(
            file, devices, at=at, mtu=mtu, duration_s=duration_s, priority=priority, sets=changes(sets, seed)
        ) as emulation,
    ):
        if not quiet:
            _announce(emulation)
        try:
            with _shown(emulation, shown=not quiet) as look:
                while not asked() and not emulation.wait(0.2, look=look):
                    pass
        finally:
            # Ends the loop, so that the last statistics are those of the end.
            ended = None
            try:
                emulation.stop()
            except OSError as error:
                ended = error
            _report(emulation, as_json=as_json, quiet=quiet)
            if ended is not None:
                raise ended


@contextmanager
def _terminated() -> Iterator[Callable[[], bool]]:
    """Whether Ctrl-C or a signal asked for the end, which is how an emulation without a duration ends."""
    asked = False

    def note(*_: object) -> None:
        nonlocal asked
        asked = True

    signals = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = {number: signal.signal(number, note) for number in signals}
    try:
        yield lambda: asked
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _announce(emulation: Emulation) -> None:
    about = emulation.about
    for entry, node in zip(about["devices"], about["nodes"], strict=True):
        made = ", made here and removed at the end" if entry["made"] else ""
        say(f"{entry['device']}: at node {node}{made}", file=sys.stderr)
        for address in entry["left_out"]:
            say(f"{entry['device']}: {address} is not given to it: IPv6 is switched off there", file=sys.stderr)
    if about["priority"] != "SCHED_FIFO":
        say(f"the loop runs at priority {about['priority']}: packets will be later than as root", file=sys.stderr)
    say(f"{about['scenario']}: forwarding; flows of the scenario are not run; end with Ctrl-C", file=sys.stderr)


@contextmanager
def _shown(emulation: Emulation, *, shown: bool) -> Iterator[Callable[[Emulation], object] | None]:
    """A table that follows the emulation, if stderr is a terminal."""
    if not shown or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.live import Live

    last = emulation.statistics()
    with Live(_table(emulation.about, last, last), console=Console(stderr=True), auto_refresh=False) as live:

        def look(emulation: Emulation) -> None:
            nonlocal last
            now = emulation.statistics()
            if now["elapsed_s"] - last["elapsed_s"] >= 0.5:
                live.update(_table(emulation.about, now, last), refresh=True)
                last = now

        yield look


def _table(about: dict[str, Any], now: dict[str, Any], last: dict[str, Any]) -> Table:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, title=f"{about['scenario']}: {now['elapsed_s']:.0f} s", title_justify="left")
    for column in _rows(about, now, last)[0]:
        table.add_column(column, justify="left" if column == "direction" else "right", no_wrap=True)
    for row in _rows(about, now, last):
        table.add_row(*row.values())
    return table


def _rows(about: dict[str, Any], now: dict[str, Any], last: dict[str, Any]) -> list[dict[str, str]]:
    """A row for each direction; rates are those since `last`."""
    span = now["elapsed_s"] - last["elapsed_s"]
    rows = []
    for at in (0, 1):
        direction, lateness = now["directions"][at], now["directions"][at]["lateness"]
        before = last["directions"][at]["delivered_bytes"] if span > 0 else 0
        bits = 8 * (direction["delivered_bytes"] - before) / (span if span > 0 else max(now["elapsed_s"], 1e-9))
        links = [link for link in now["links"] if link["direction"] == at]
        invalid = sum(direction[f"dropped_{why}"] for why in ("not_ip", "truncated", "refused"))
        a, b = about["nodes"] if at == 0 else reversed(about["nodes"])
        rows.append(
            {
                "direction": f"{a} → {b}",
                "packets": f"{direction['delivered_packets']:,}",
                "Mbit/s": f"{bits / 1e6:.2f}",
                "queue": str(sum(link["queue_packets"] for link in links)),
                "full": str(sum(link["dropped_queue"] for link in links)),
                "AQM": str(sum(link["dropped_aqm"] for link in links)),
                "lost": str(sum(link["dropped_error"] for link in links)),
                "marked": str(sum(link["marked"] for link in links)),
                "invalid": str(invalid),
                "late": str(direction["late_packets"]),
                "p50": _time(lateness["p50_us"]),
                "p99": _time(lateness["p99_us"]),
                "max": _time(lateness["max_us"]),
            }
        )
    return rows


def _time(micros: float) -> str:
    return f"{micros / 1000:.1f} ms" if micros >= 1000 else f"{micros:.0f} µs"


def _report(emulation: Emulation, *, as_json: bool, quiet: bool) -> None:
    statistics = emulation.statistics()
    if as_json:
        print(plain(json.dumps({**emulation.about, **statistics})))
        return
    if quiet or not statistics["directions"]:
        return
    from rich.console import Console

    start = {"elapsed_s": 0.0, "directions": [{"delivered_bytes": 0}] * 2}
    console = Console(markup=False, highlight=False)
    console.width = max(console.width, 140)
    console.print(_table(emulation.about, statistics, start))
    for at, direction in enumerate(statistics["directions"]):
        if direction["late_packets"]:
            share = direction["late_packets"] / direction["delivered_packets"]
            say(f"direction {at + 1}: {direction['late_packets']} deliveries ({share:.2%}) more than 1 ms late")
    if statistics["stalls"]:
        longest = _time(statistics["longest_stall_us"])
        say(f"the loop was held up for more than 1 ms {statistics['stalls']} times, at most {longest}")
    _histogram(statistics)


def _histogram(statistics: dict[str, Any]) -> None:
    """Lateness of both directions together, in powers of two."""
    counts: dict[int, int] = {}
    for direction in statistics["directions"]:
        for micros, count in direction["lateness"]["histogram"]:
            power = max(4, int(micros).bit_length())
            counts[power] = counts.get(power, 0) + count
    total = sum(counts.values())
    if total == 0:
        return
    print("lateness")
    for power in range(min(counts), max(counts) + 1):
        share = counts.get(power, 0) / total
        say(f"  below {_time(2.0**power):>8}  {share:8.3%}  {'#' * round(40 * share)}")
