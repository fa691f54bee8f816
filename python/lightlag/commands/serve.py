"""``lightlag serve-tcp`` and ``lightlag connect``: the simulated TCP as a host on a TUN device, for real peers."""

from __future__ import annotations

import json
import secrets
import sys
import tomllib
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

import typer

from lightlag.commands._real_packets import noted_signals, print_event
from lightlag.errors import InputError
from lightlag.text.terminal import plain

Tun = Annotated[str, typer.Option(metavar="NAME", help="TUN device. It is created, and removed at the end.")]
Namespace = Annotated[str | None, typer.Option(metavar="NAME", help="Network namespace of the device (ip netns).")]
Address = Annotated[str, typer.Option(metavar="IP", help="Address of the simulated host.")]
HostAddress = Annotated[str | None, typer.Option("--address", metavar="IP", help="Address of the simulated host.")]
HostsFile = Annotated[
    str | None,
    typer.Option("--hosts", metavar="FILE", help="Several hosts at nodes of the scenario of --path, in TOML."),
]
At = Annotated[
    str | None,
    typer.Option("--at", metavar="NODE", help="Node of the device in --path. Default: the start of its first flow."),
]
Peer = Annotated[
    str | None,
    typer.Option(
        metavar="IP/PREFIX", help="Address of the kernel on the device. Default: the address that the device has."
    ),
]
Congestion = Annotated[str | None, typer.Option("--congestion", "-c", metavar="NAME", help="Congestion control.")]
ProfileName = Annotated[str | None, typer.Option("--profile", metavar="NAME", help="Profile: linux, rfc, ...")]
Set = Annotated[
    list[str] | None,
    typer.Option("--set", "-s", metavar="KEY=VALUE", help="A key of a scenario's tcp table: sack=false."),
]
Mtu = Annotated[int, typer.Option(metavar="BYTES", help="Maximum IP packet size.")]
Seed = Annotated[
    int | None,
    typer.Option(min=0, max=2**63 - 1, help="Seed of sequence numbers and ports. Default: a new one each time."),
]
PauseAfter = Annotated[str | None, typer.Option(metavar="SIZE", help="Stop reading after this many bytes ...")]
PauseFor = Annotated[str, typer.Option(metavar="TIME", help="... for this time: the window closes.")]
Send = Annotated[str | None, typer.Option(metavar="SIZE", help="Send this many bytes, such as 64MB, then close.")]
File = Annotated[Path | None, typer.Option("--file", metavar="FILE", help="Send a file, then close.")]
PathFile = Annotated[
    str | None,
    typer.Option(
        "--path", metavar="FILE", help="A scenario, whose network connects the device and the simulated host."
    ),
]
Rate = Annotated[
    str | None, typer.Option(metavar="RATE", help="Instead of --path, one link in each direction: its rate, ...")
]
Delay = Annotated[str | None, typer.Option(metavar="TIME", help="... its delay, ...")]
Queue = Annotated[int | None, typer.Option(min=1, help="... its queue limit in packets (1000), ...")]
FastOpen = Annotated[
    str | None,
    typer.Option(metavar="HOW", help="Data with the SYN (TCP Fast Open): cookie, or no-cookie to need none."),
]
Loss = Annotated[str | None, typer.Option(metavar="P", help="... and its loss probability.")]
Priority = Annotated[
    str, typer.Option(help="Scheduling of the loop: fifo, nice or normal; the next lower one if not permitted.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object per line: each event, then the counters.")]


def serve_tcp(
    address: HostAddress = None,
    port: Annotated[int | None, typer.Option(min=1, max=65535, help="Port to listen on.")] = None,
    hosts: HostsFile = None,
    tun: Tun = "lightlag0",
    namespace: Namespace = None,
    peer: Peer = None,
    sink: Annotated[bool, typer.Option("--sink", help="Read everything (the default).")] = False,
    echo: Annotated[bool, typer.Option("--echo", help="Send everything back.")] = False,
    send: Send = None,
    file: File = None,
    http: Annotated[Path | None, typer.Option(metavar="DIR", help="Answer GET with the files of a directory.")] = None,
    iperf: Annotated[bool, typer.Option("--iperf", help="Act as an iperf3 server.")] = False,
    congestion: Congestion = None,
    profile: ProfileName = None,
    sets: Set = None,
    connections: Annotated[int | None, typer.Option(min=1, help="End after this number of connections.")] = None,
    max_connections: Annotated[
        int, typer.Option(min=1, metavar="N", help="Open connections; a SYN beyond them is dropped.")
    ] = 1024,
    max_memory: Annotated[
        str, typer.Option(metavar="SIZE", help="Buffers of all connections; idle connections beyond it are reset.")
    ] = "1 GB",
    stall_timeout: Annotated[
        str, typer.Option(metavar="TIME", help="Reset a connection whose peer keeps its window closed for this time.")
    ] = "120 s",
    pause_after: PauseAfter = None,
    pause_for: PauseFor = "3 s",
    path: PathFile = None,
    at: At = None,
    rate: Rate = None,
    delay: Delay = None,
    queue: Queue = None,
    loss: Loss = None,
    mtu: Mtu = 1500,
    fast_open: FastOpen = None,
    seed: Seed = None,
    priority: Priority = "fifo",
    as_json: AsJson = False,
) -> None:
    r"""Serve the simulated TCP to real clients on a TUN device. Needs root.

    \b
    lightlag serve-tcp --address 10.9.0.2 --peer 10.9.0.1/24 --port 5001 --sink
    nc -N 10.9.0.2 5001 < file                    the printed SHA-256 is the one of the file
    lightlag serve-tcp --address 10.9.0.2 --peer 10.9.0.1/24 --port 80 --http . -c bbr
    curl http://10.9.0.2/README.md
    lightlag serve-tcp --address 10.9.0.2 --peer 10.9.0.1/24 --port 5201 --iperf --rate "20 Mbit/s" --delay 100ms
    iperf3 -c 10.9.0.2 --bidir

    With --hosts several hosts serve and connect at nodes of one network:

    \b
    lightlag serve-tcp --path star.toml --hosts hosts.toml --at outside --peer 10.9.0.1/24

    Ctrl-C resets the connections that are open, prints the counters and removes the device.
    """
    wanted = {"sink": sink, "echo": echo, "iperf": iperf, "http": http is not None}
    roles = [role for role, is_wanted in wanted.items() if is_wanted] + ["send"] * ((send is not None) + bool(file))
    if len(roles) > 1:
        raise InputError("--sink, --echo, --send, --file, --http, --iperf: use one of them")
    options = {"priority": priority, "scenario": _path(path, seed, rate, delay, queue, loss)}
    options |= _device(tun, namespace, peer, at, mtu, seed)
    if hosts is not None:
        if address is not None or port is not None or roles or sets or congestion or profile:
            raise InputError(
                "--hosts: the file describes the hosts; remove --address, --port and the options of a host"
            )
        from lightlag.emulation.hosts import read_hosts

        _run(options | {"hosts": read_hosts(hosts)}, as_json)
        return
    for name, value in [("--address", address), ("--port", port)]:
        if value is None:
            raise InputError(f"{name}: is missing; give it, or describe several hosts with --hosts FILE")
    host: dict[str, Any] = {"address": address, "port": port, "role": roles[0] if roles else "sink", "send": send}
    host |= {"connections": connections, "file": _text(file), "http": _text(http), "fast_open": fast_open}
    host |= {"pause": _pause(pause_after, pause_for), "tcp": _tcp(sets, congestion, profile)}
    host |= {"max_connections": max_connections, "max_memory": max_memory, "stall_timeout": stall_timeout}
    _run(options | {"host": _given(host)}, as_json)


def connect(
    remote: Annotated[str, typer.Argument(metavar="ADDRESS:PORT", help="Address and port of the server.")],
    address: Address,
    tun: Tun = "lightlag0",
    namespace: Namespace = None,
    peer: Peer = None,
    send: Send = None,
    file: File = None,
    receive: Annotated[bool, typer.Option("--receive", help="Read until the peer closes (the default).")] = False,
    iperf: Annotated[bool, typer.Option("--iperf", help="Run a test against an iperf3 server.")] = False,
    time: Annotated[str | None, typer.Option(metavar="TIME", help="Duration of the test (10 s).")] = None,
    reverse: Annotated[bool, typer.Option("--reverse", help="The iperf3 server sends.")] = False,
    connections: Annotated[int, typer.Option(min=1, help="Open this number of connections, one after the other.")] = 1,
    congestion: Congestion = None,
    profile: ProfileName = None,
    sets: Set = None,
    pause_after: PauseAfter = None,
    pause_for: PauseFor = "3 s",
    path: PathFile = None,
    at: At = None,
    rate: Rate = None,
    delay: Delay = None,
    queue: Queue = None,
    loss: Loss = None,
    mtu: Mtu = 1500,
    fast_open: FastOpen = None,
    seed: Seed = None,
    priority: Priority = "fifo",
    as_json: AsJson = False,
) -> None:
    r"""Connect the simulated TCP to a real server through a TUN device. Needs root.

    \b
    nc -l 10.9.0.1 5001 | sha256sum               once the device is there; or listen at 0.0.0.0
    lightlag connect 10.9.0.1:5001 --address 10.9.0.2 --peer 10.9.0.1/24 --send 64MB -c hybla
    iperf3 -s                                     another server
    lightlag connect 10.9.0.1:5201 --address 10.9.0.2 --peer 10.9.0.1/24 --iperf --time "5 s"
    """
    if sum([receive, send is not None, file is not None, iperf]) > 1:
        raise InputError("--send, --file, --receive, --iperf: use one of them")
    role = "iperf" if iperf else "send" if send is not None or file else "sink"
    host: dict[str, Any] = {"address": address, "connect": remote, "role": role, "send": send, "file": _text(file)}
    host |= {"connections": connections, "fast_open": fast_open, "time": time, "reverse": reverse}
    host |= {"pause": _pause(pause_after, pause_for), "tcp": _tcp(sets, congestion, profile)}
    options = {"priority": priority, "scenario": _path(path, seed, rate, delay, queue, loss)}
    options |= _device(tun, namespace, peer, at, mtu, seed)
    _run(options | {"host": _given(host)}, as_json)


def _device(
    tun: str, namespace: str | None, peer: str | None, at: str | None, mtu: int, seed: int | None
) -> dict[str, Any]:
    seed = secrets.randbits(53) if seed is None else seed
    device = {"name": tun, "namespace": namespace, "addresses": [] if peer is None else [peer], "node": at}
    return {"devices": [device], "mtu": mtu, "seed": seed}


def _given(options: dict[str, Any]) -> dict[str, Any]:
    """Returns the options that have a value."""
    return {key: value for key, value in options.items() if value is not None}


def _tcp(sets: list[str] | None, congestion: str | None, profile: str | None) -> dict[str, Any]:
    """Returns the table that the options and KEY=VALUE pairs describe; a dotted key belongs to a nested table."""
    table: dict[str, Any] = {}
    for change in sets or []:
        key, separator, text = change.partition("=")
        if not separator or not key.strip():
            raise InputError(f'--set "{change}": is not KEY=VALUE; write for example --set sack=false')
        try:
            value = tomllib.loads(f"value = {text.strip()}")["value"]
        except tomllib.TOMLDecodeError:
            value = text.strip()
        *outer, last = key.strip().split(".")
        place = table
        for part in outer:
            place = place.setdefault(part, {})
            if not isinstance(place, dict):
                raise InputError(f'--set "{change}": {part} is a value already')
        place[last] = value
    return table | _given({"congestion": congestion, "profile": profile})


def _text(path: Path | None) -> str | None:
    return None if path is None else str(path)


def _pause(after: str | None, time: str) -> dict[str, str] | None:
    return None if after is None else {"after": after, "for": time}


def _path(
    file: str | None, seed: int | None, rate: str | None, delay: str | None, queue: int | None, loss: str | None
) -> str | None:
    """Returns the scenario of the path as JSON: the scenario of a file, or one link with these properties."""
    link: dict[str, Any] = {"rate": rate, "delay": delay, "queue": queue and f"{queue} packets", "loss": loss}
    link = {key: value for key, value in link.items() if value is not None}
    if file is not None:
        from lightlag.scenario import load_scenario

        if link:
            raise InputError("--path: the scenario specifies rate, delay, queue and loss; remove those options")
        return load_scenario(file, [] if seed is None else [("seed", str(seed))])
    if not link:
        return None
    if loss is not None:
        with suppress(ValueError):
            link["loss"] = float(loss)
    defaults = {"between": ["device", "host"], "rate": "100 Gbit/s", "delay": "0 s", "queue": "1000 packets"}
    flow = {"from": "device", "to": "host"}
    scenario = {
        "name": "path",
        "duration": "1 s",
        "seed": 1 if seed is None else seed,
        "links": [defaults | link],
        "flows": [flow],
    }
    return json.dumps(scenario)


def _run(options: dict[str, Any], as_json: bool) -> None:
    from lightlag.emulation.emulator import Emulation, start_emulation

    def show(emulation: Emulation) -> None:
        for event in emulation.events():
            if event["event"] == "ready":
                event = {"event": "ready", "tun": emulation.about["devices"][0]["device"]} | event
            print_event(event, as_json=as_json, several="hosts" in options)

    with noted_signals() as received:
        emulation = start_emulation(options)
        while received() is None and not emulation.wait(0.05):
            show(emulation)
        number = received()
        try:
            emulation.stop()
        finally:
            show(emulation)
    counters = emulation.statistics()["host_counters"] | {"interrupted": number is not None}
    print(plain(json.dumps({"event": "ended"} | counters)) if as_json else _counters(counters), flush=True)
    if number is not None and "connect" in options.get("host", {}):
        print("error: interrupted", file=sys.stderr)
        raise typer.Exit(128 + number)


def _counters(counters: dict[str, Any]) -> str:
    names = (
        "bad_packets",
        "other_protocols",
        "not_for_us",
        "refused_syns",
        "evicted",
        "resets",
        "refused_by_device",
        "lost_on_path",
        "dropped_by_queue",
    )
    rest = ", ".join(f"{name.replace('_', ' ')} {counters[name]}" for name in names if counters[name])
    return f"{counters['packets_in']} packets in, {counters['packets_out']} out" + (f"; {rest}" if rest else "")
