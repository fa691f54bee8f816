"""``lightlag emulate``: real packets through a scenario, with tables that follow them."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lightlag.commands._real_packets import noted_signals, print_event
from lightlag.commands.changes import changes
from lightlag.errors import InputError
from lightlag.text.terminal import plain, say

if TYPE_CHECKING:
    from rich.console import Group
    from rich.table import Table

    from lightlag.emulation.emulator import Emulation

File = Annotated[str, typer.Argument(metavar="FILE", help="A scenario in TOML or JSON, or the name of a preset.")]
Pair = tuple[str, str]


def emulate(
    file: File,
    between: Annotated[
        Pair,
        typer.Option(
            "--between",
            metavar="A B",
            help="Two TUN devices, or network namespaces: ns:NAME, ns:NAME/DEVICE. Missing ones are created.",
        ),
    ],
    at: Annotated[
        Pair | None,
        typer.Option(
            "--at", metavar="NODE NODE", help="Nodes of the devices; default: the endpoints of the first flow."
        ),
    ] = None,
    hosts: Annotated[
        str | None,
        typer.Option("--hosts", metavar="FILE", help="Simulated hosts at other nodes of the scenario, in TOML."),
    ] = None,
    address: Annotated[
        Pair | None,
        typer.Option(
            "--address",
            metavar="A B",
            help="Addresses of A and B, separated by commas; default in namespaces: 10.77.0.1/24,fd77::1/64 and .2.",
        ),
    ] = None,
    mtu: Annotated[int, typer.Option(min=68, max=65535, help="Maximum packet size, in bytes.")] = 1500,
    duration: Annotated[
        str | None, typer.Option("--duration", "-d", metavar="TIME", help='Such as "30 s"; default: until Ctrl-C.')
    ] = None,
    sets: Annotated[
        list[str] | None,
        typer.Option("--set", "-s", metavar="KEY=VALUE", help="Change the scenario: links.0.loss=1e-4."),
    ] = None,
    seed: Annotated[int | None, typer.Option(min=0, max=2**63 - 1, help="Seed of all random streams.")] = None,
    priority: Annotated[
        str, typer.Option(help="Scheduling of the loop: fifo, nice or normal; the next lower one if not permitted.")
    ] = "fifo",
    as_json: Annotated[
        bool,
        typer.Option("--json", help="Print one JSON object at the end, after one for each event of a host."),
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No table, no notes.")] = False,
) -> None:
    r"""Forward the real packets of two TUN devices through the links of a scenario, in real time.

    Rate, delay, queues, losses, reordering and marks are as in a simulation of the same file; its flows do
    not run. Needs root, or CAP_NET_ADMIN (and CAP_SYS_ADMIN for namespaces). Devices that the command created are
    removed at the end. For two namespaces:

    \b
      ip netns add left; ip netns add right
      lightlag emulate geo --between ns:left ns:right &
      ip netns exec left ping 10.77.0.2

    With --hosts simulated hosts at other nodes serve and connect, through the same links and queues:

    \b
      lightlag emulate star.toml --between ns:left ns:right --hosts hosts.toml
    """
    from lightlag import _engine
    from lightlag.emulation.emulator import ADDRESSES, device
    from lightlag.emulation.emulator import emulate as start

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
        noted_signals() as received,
        start(
            file,
            devices,
            nodes=at,
            hosts=() if hosts is None else hosts,
            mtu=mtu,
            duration_s=duration_s,
            priority=priority,
            sets=changes(sets, seed),
        ) as emulation,
    ):
        if not quiet:
            _announce(emulation)
        try:
            with _shown(emulation, shown=not quiet) as look:
                while received() is None and not emulation.wait(0.2, look=look):
                    _print_events(emulation, as_json=as_json, quiet=quiet)
        finally:
            # Ends the loop, so that the last statistics cover the entire time.
            ended = None
            try:
                emulation.stop()
            except OSError as error:
                ended = error
            _print_events(emulation, as_json=as_json, quiet=quiet)
            _report(emulation, as_json=as_json, quiet=quiet)
            if ended is not None:
                raise ended


def _print_events(emulation: Emulation, *, as_json: bool, quiet: bool) -> None:
    """Prints the events of hosts since the last call."""
    for event in emulation.events():
        if as_json or (event["event"] != "ready" and not quiet):
            print_event(event, as_json=as_json, several=True)


def _announce(emulation: Emulation) -> None:
    about = emulation.about
    for entry, node in zip(about["devices"], about["nodes"], strict=True):
        made = ", made here and removed at the end" if entry["made"] else ""
        say(f"{entry['device']}: at node {node}{made}", file=sys.stderr)
        for address in entry["left_out"]:
            say(f"{entry['device']}: {address} is not given to it: IPv6 is switched off there", file=sys.stderr)
    for host in about["hosts"]:
        say(f"{host['address']}: simulated host at node {host['node']}", file=sys.stderr)
    if about["priority"] != "SCHED_FIFO":
        say(f"the loop runs at priority {about['priority']}: packets will be later than as root", file=sys.stderr)
    say(f"{about['scenario']}: forwarding; flows of the scenario are not run; end with Ctrl-C", file=sys.stderr)


@contextmanager
def _shown(emulation: Emulation, *, shown: bool) -> Iterator[Callable[[Emulation], object] | None]:
    """Shows tables that follow the emulation, if stderr is a terminal."""
    if not shown or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.live import Live

    last = emulation.statistics()
    console = Console(stderr=True)
    # Events go to stdout. They are printed above the tables if it is this terminal.
    shared = sys.stdout.isatty()
    tables = _tables(emulation.about, last, last)
    with Live(tables, console=console, auto_refresh=False, redirect_stdout=shared) as live:

        def look(emulation: Emulation) -> None:
            nonlocal last
            now = emulation.statistics()
            if now["elapsed_s"] - last["elapsed_s"] >= 0.5:
                live.update(_tables(emulation.about, now, last), refresh=True)
                last = now

        yield look


def _tables(about: dict[str, Any], now: dict[str, Any], last: dict[str, Any]) -> Group:
    from rich.console import Group

    title = f"{about['scenario']}: {now['elapsed_s']:.0f} s"
    if not about["hosts"]:
        return Group(_table(title, _directions(about, now, last)))
    return Group(_table(title, _sources(about, now, last)), _table("links", [_link(link) for link in now["links"]]))


def _table(title: str, rows: list[dict[str, str]]) -> Table:
    """Returns a table whose first column is text and whose other columns are numbers."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, title=title, title_justify="left")
    for index, column in enumerate(rows[0]):
        table.add_column(column, justify="right" if index else "left", no_wrap=True)
    for row in rows:
        table.add_row(*row.values())
    return table


def _directions(about: dict[str, Any], now: dict[str, Any], last: dict[str, Any]) -> list[dict[str, str]]:
    """Returns a row for each direction between two devices; rates are averages since `last`."""
    a, b = about["nodes"]
    rows = []
    for index, name in enumerate((f"{a} → {b}", f"{b} → {a}")):
        links = [link for link in now["links"] if link["direction"] == index]
        packets, lateness = _source(now, last, index)
        rows.append({"direction": name} | packets | _drops(links) | lateness)
    return rows


def _sources(about: dict[str, Any], now: dict[str, Any], last: dict[str, Any]) -> list[dict[str, str]]:
    """Returns a row for the packets of each device and each host; rates are averages since `last`."""
    rows = []
    for index, name in enumerate(_nodes(about)):
        packets, lateness = _source(now, last, index)
        rows.append({"from": name} | packets | lateness)
    return rows


def _nodes(about: dict[str, Any]) -> list[str]:
    """Returns the nodes of devices and hosts, in the order of the statistics."""
    return [*about["nodes"], *(host["node"] for host in about["hosts"])]


def _link(link: dict[str, Any]) -> dict[str, str]:
    return {"link": link["name"], "packets": f"{link['delivered']:,}"} | _drops([link])


def _drops(links: list[dict[str, Any]]) -> dict[str, str]:
    columns = {"queue": "queue_packets", "full": "dropped_queue", "AQM": "dropped_aqm", "lost": "dropped_error"}
    columns["marked"] = "marked"
    return {column: str(sum(link[key] for link in links)) for column, key in columns.items()}


def _source(now: dict[str, Any], last: dict[str, Any], index: int) -> tuple[dict[str, str], dict[str, str]]:
    """Returns the columns about the packets from a device or host, and about their lateness."""
    span = now["elapsed_s"] - last["elapsed_s"]
    direction, lateness = now["directions"][index], now["directions"][index]["lateness"]
    before = last["directions"][index]["delivered_bytes"] if span > 0 and last["directions"] else 0
    bits = 8 * (direction["delivered_bytes"] - before) / (span if span > 0 else max(now["elapsed_s"], 1e-9))
    invalid = sum(direction[f"dropped_{why}"] for why in ("not_ip", "truncated", "unroutable", "refused"))
    packets = {"packets": f"{direction['delivered_packets']:,}", "Mbit/s": f"{bits / 1e6:.2f}"}
    times = {name: _time(lateness[f"{name}_us"]) for name in ("p50", "p99", "max")}
    return packets, {"invalid": str(invalid), "late": str(direction["late_packets"])} | times


def _time(micros: float) -> str:
    return f"{micros / 1000:.1f} ms" if micros >= 1000 else f"{micros:.0f} µs"


def _report(emulation: Emulation, *, as_json: bool, quiet: bool) -> None:
    statistics = emulation.statistics()
    about = emulation.about
    if as_json:
        event = {"event": "ended"} if about["hosts"] else {}
        print(plain(json.dumps({**event, **about, **statistics})), flush=True)
        return
    if quiet or not statistics["directions"]:
        return
    from rich.console import Console

    start: dict[str, Any] = {"elapsed_s": 0.0, "directions": []}
    console = Console(markup=False, highlight=False)
    console.width = max(console.width, 140)
    console.print(_tables(about, statistics, start))
    names = ["direction 1", "direction 2"]
    if about["hosts"]:
        names = [f"from {node}" for node in _nodes(about)]
    for name, direction in zip(names, statistics["directions"], strict=True):
        if direction["late_packets"]:
            share = direction["late_packets"] / direction["delivered_packets"]
            say(f"{name}: {direction['late_packets']} deliveries ({100 * share:.2f} %) more than 1 ms late")
    if statistics["stalls"]:
        longest = _time(statistics["longest_stall_us"])
        say(f"the loop was delayed by more than 1 ms {statistics['stalls']} times, at most {longest}")
    _histogram(statistics)


def _histogram(statistics: dict[str, Any]) -> None:
    """Prints the histogram of the lateness of all packets, in powers of two."""
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
        say(f"  below {_time(2.0**power):>8}  {100 * share:7.3f} %  {'#' * round(40 * share)}")
