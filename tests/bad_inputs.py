"""Bad inputs by class, made systematically: each is a mistake of its own, with what its message has to name."""

# The calls are wrong on purpose, and texts of files are clearer on one line.
# mypy: ignore-errors
# ruff: noqa: E501, E731

from __future__ import annotations

import itertools
import json
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import lightlag as ll
from conftest import PAIR, pair


@dataclass(frozen=True)
class Case:
    """A mistake."""

    name: str
    arguments: tuple[str, ...] = ()
    """Arguments of the command line, or a call."""
    call: Callable[[], object] | None = None
    files: tuple[tuple[str, bytes | str], ...] = ()
    """Written before."""
    prepare: Callable[[], object] | None = None
    """Done before."""
    parts: tuple[str, ...] = ()
    """The message holds all of them: the place, the value."""
    usage: bool = False
    """Told by the parser of the command line."""


# --- what a scenario's keys take ---------------------------------------------------------------------------------------

TIME = ("5", "5 m", "-1 s", "soon", "1,5 s", "nan s", "1e300 s", "0.3 ns", "s", "1 s 2", "true", "[]", "{}")
SIZE = ("5", "2 Mbit", "-1 B", "much", "nan B", "1e300 B", "0.5 B", "B", "1 B B", "false", "[1]", "{ a = 1 }")
RATE = ("5", "5 MB", "-1 Mbit/s", "fast", "0 bit/s", "inf bit/s", "0.9 bit/s", "Mbit/s", "1 Mbit", "true", "[]")
PROBABILITY = ("1.01", "-0.1", "often", "nan", "inf", "1e400", "50 %", "true", "2")
COUNT = ("-1", "1.5", "many", "true", "[]", "{}", "'3'", "1e3", "99999999999999999999")
SWITCH = ("1", "0", "yes", "'true'", "[]", "2.0", "'off'")
WORD = ("carrot", "1", "[]", "Lınux", "''", "' '")
TEXT = ("1", "true", "[]", "{}", "1.5")

KEYS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("duration", TIME),
    ("seed", COUNT),
    ("name", (*TEXT, "a/b", ".a", "''")),
    ("ip", WORD),
    ("links.0.rate", RATE),
    ("links.0.delay", TIME),
    ("links.0.header", SIZE),
    ("links.0.loss", PROBABILITY),
    ("links.0.duplicate", PROBABILITY),
    ("links.0.queue", ("5", "0 packets", "1.5 packets", "-1 bdp", "0.1 B", "many", "true", "[]", "nan bdp")),
    ("links.0.outage", WORD),
    ("links.0.signals", WORD),
    ("flows.0.from", (*TEXT, "nobody", "''")),
    ("flows.0.to", (*TEXT, "nobody", "client", "''")),
    ("flows.0.name", (*TEXT, "''")),
    ("flows.0.transfer", (*SIZE, "0 B")),
    ("flows.0.start", TIME),
    ("flows.0.transport", WORD),
    ("flows.0.tcp.profile", WORD),
    ("flows.0.tcp.congestion", WORD),
    ("flows.0.tcp.mss", (*SIZE, "1 B")),
    ("flows.0.tcp.sack", SWITCH),
    ("flows.0.tcp.timestamps", SWITCH),
    ("flows.0.tcp.window_scaling", SWITCH),
    ("flows.0.tcp.pacing", SWITCH),
    ("flows.0.tcp.nagle", SWITCH),
    ("flows.0.tcp.tso", SWITCH),
    ("flows.0.tcp.prr", SWITCH),
    ("flows.0.tcp.tlp", SWITCH),
    ("flows.0.tcp.frto", SWITCH),
    ("flows.0.tcp.eifel", SWITCH),
    ("flows.0.tcp.ecn", WORD),
    ("flows.0.tcp.recovery", WORD),
    ("flows.0.tcp.rtt_samples", WORD),
    ("flows.0.tcp.timer_granularity", WORD),
    ("flows.0.tcp.receive_buffer", ("5", "2 Mbit", "-1 B", "much", "0 B", "0.5 B", "true", "[1]")),
    ("flows.0.tcp.initial_window", ("-1", "1.5", "many", "0", "[]", "99999999999999999999")),
    ("flows.0.tcp.burst_limit", COUNT),
    ("flows.0.tcp.retries", COUNT),
    ("flows.0.tcp.time_wait", TIME),
    ("defaults.tcp.rto.min", TIME),
    ("defaults.tcp.rto.max", TIME),
    ("defaults.tcp.rto.initial", TIME),
    ("defaults.tcp.delayed_ack.timeout", TIME),
    ("defaults.tcp.delayed_ack.segments", COUNT),
    ("record.interval", (*TIME, "0 s")),
    ("record.trace", WORD),
    ("record.queue", WORD),
    ("record.drops", SWITCH),
    ("record.acks", SWITCH),
)

CONTROLS = (
    *("\x1b[31m", "\x07", "\x08", "\x0c", "\x7f", "\x9b", "\x85", "\u202e", "\u202a", "\u2066", "\u2069", "\u200b"),
    *("\u200e", "\u2028", "\ufeff"),
)


def last(key: str) -> str:
    return key.rsplit(".", 1)[-1]


def shown(value: str) -> str:
    """A part of the value that a message repeats."""
    return value.strip("'\"").split("{")[0].strip()


# --- --set -------------------------------------------------------------------------------------------------------------


def sets() -> Iterator[Case]:
    for key, values in KEYS:
        for value in values:
            yield Case(f"{key}={value}", ("run", "pair.toml", "--set", f"{key}={value}"), parts=(last(key),))
    for text in ("seed", "=3", "=", "", " = 4", "duration"):
        yield Case(f"--set {text!r}", ("run", "pair.toml", "--set", text), parts=("--set", "is not KEY=VALUE"))
    for key in (
        "links.7.rate",
        "links.-1.rate",
        "links.x.rate",
        "flows.1.to",
        "flows.99.tcp.mss",
        "duration.x",
        "a..b",
    ):
        yield Case(f"no {key}", ("run", "pair.toml", "--set", f"{key}=1 s"), parts=(key,))
    for key in (
        "links.0.loss.rate",
        "seed.a",
        "links.0.rate.fast",
        "flows.0.tcp.mss.b",
        ".",
        "..",
        "[",
        "links[",
        "links[]",
    ):
        yield Case(f"no place {key}", ("run", "pair.toml", "--set", f"{key}=1"), parts=("pair.toml: ",))


# --- values, in files --------------------------------------------------------------------------------------------------

NUMBERS = (-1, 1.5, 10**30, True, None, "", [], {}, "text", [[]], {"a": 1}, -0.5, 1e308)
PLACES = (
    *("duration", "links.0.rate", "links.0.delay", "links.0.loss", "links.0.queue", "flows.0.from", "flows.0.to"),
    *("flows.0.transfer", "links.0.between", "record", "defaults", "topology", "proxies", "links", "flows"),
)


def set_at(tree: Any, key: str, value: object) -> None:
    *path, end = [int(step) if step.isdigit() else step for step in key.split(".")]
    for step in path:
        tree = tree[step]
    tree[end] = value


def tree() -> dict[str, Any]:
    return pair().scenario("30 s", seed=3).to_dict()


def is_fine(key: str, value: object) -> bool:
    """A value that is not wrong there."""
    whole = {"record": ({},), "defaults": ({},), "proxies": ([],), "links.0.queue": (), "flows.0.from": ("text",)}
    optional = ("links.0.loss", "links.0.queue", "flows.0.transfer", "record", "defaults", "topology", "proxies")
    if value is None:
        return key in optional
    return any(value == fine and type(value) is type(fine) for fine in whole.get(key, ()))


def values() -> Iterator[Case]:
    for key, value in itertools.product(PLACES, NUMBERS):
        if is_fine(key, value):
            continue
        scenario = tree()
        set_at(scenario, key, value)
        name = key.split(".")[0] if key.split(".")[-1].isdigit() else last(key)
        yield Case(
            f"{key}: {value!r:.20}",
            ("check", "wrong.json"),
            files=(("wrong.json", json.dumps(scenario)),),
            parts=(name,),
        )


# --- structure ---------------------------------------------------------------------------------------------------------

TABLES: dict[str, tuple[str, ...]] = {
    "": ("name", "duration", "seed", "links", "flows", "record", "defaults", "topology", "proxies"),
    "links.0": ("between", "rate", "delay", "queue", "loss", "jitter", "reorder", "duplicate", "changes", "header"),
    "flows.0": ("from", "to", "name", "transport", "traffic", "transfer", "start", "reader", "tcp"),
    "record": ("trace", "queue", "drops", "interval", "acks", "queueing", "pcap"),
    "flows.0.tcp": (
        *(
            "profile",
            "mss",
            "sack",
            "timestamps",
            "ecn",
            "window_scaling",
            "initial_window",
            "receive_buffer",
            "recovery",
        ),
        *("delayed_ack", "rto", "pacing", "nagle", "growth", "retries", "keep_alive", "scps", "route", "rate_control"),
    ),
}


def misspelt(word: str) -> Iterator[str]:
    yield word[:-1] + "x" if word[-1] != "x" else word + "y"
    yield word + "z"
    if len(word) > 4:
        yield word[0] + word[2] + word[1] + word[3:] if word[1] != word[2] else word[1:]


def structure() -> Iterator[Case]:
    for table, keys in TABLES.items():
        for key in keys:
            for wrong in misspelt(key):
                if wrong in keys:
                    continue
                scenario = tree() | {"record": {}}
                scenario["flows"][0].setdefault("tcp", {})
                set_at(scenario, f"{table}.{wrong}".lstrip("."), 1)
                files = (("wrong.json", json.dumps(scenario)),)
                yield Case(f"{table}.{wrong}", ("check", "wrong.json"), files=files, parts=(wrong, "is not"))
    for key in (
        "duration",
        "links",
        "flows",
        "links.0.between",
        "links.0.rate",
        "links.0.delay",
        "flows.0.from",
        "flows.0.to",
    ):
        scenario = tree()
        place = scenario
        *path, end = key.split(".")
        for step in path:
            place = place[int(step)] if step.isdigit() else place[step]
        del place[end]
        yield Case(f"no {key}", ("check", "wrong.json"), files=(("wrong.json", json.dumps(scenario)),), parts=(end,))
    line = '[[links]]\nbetween = ["server", "c"]\nrate = "1 Mbit/s"\ndelay = "1 ms"\n'
    udp = 'transport = "udp"\ntraffic = { kind = "constant", rate = "1 kbit/s" }\n'
    more: dict[str, tuple[str, tuple[str, ...]]] = {
        "a link twice": (line + line, ("links[2]", "c")),
        "an island": (line.replace("server", "d") + '[[flows]]\nfrom = "client"\nto = "d"\n', ("flows[1]",)),
        "a flow to itself": ('[[flows]]\nfrom = "server"\nto = "server"\n', ("flows[1]", "server")),
        "two flows of a name": ('name = "x"\n[[flows]]\nname = "x"\nfrom = "client"\nto = "server"\n', ("x",)),
        "tcp of datagrams": (
            f'[[flows]]\nfrom = "client"\nto = "server"\n{udp}tcp = {{ sack = true }}\n',
            ("flows[1].tcp",),
        ),
        "congestion of datagrams": (
            f'[[flows]]\nfrom = "client"\nto = "server"\n{udp}congestion = "cubic"\n',
            ("flows[1].congestion",),
        ),
        "datagrams in bulk": ('[[flows]]\nfrom = "client"\nto = "server"\ntransport = "udp"\n', ("flows[1].traffic",)),
        "a reader of datagrams": (
            f'[[flows]]\nfrom = "client"\nto = "server"\n{udp}reader = {{ rate = "1 kB/s" }}\n',
            ("flows[1].reader",),
        ),
        "a proxy at the sender": ('[[proxies]]\nnode = "client"\nbuffer = "1 MB"\n', ("proxies[0].node", "client")),
        "a proxy at the receiver": ('[[proxies]]\nnode = "server"\nbuffer = "1 MB"\n', ("proxies[0].node", "server")),
        "a proxy nowhere": ('[[proxies]]\nnode = "gateway"\nbuffer = "1 MB"\n', ("proxies[0].node", "gateway")),
        "a proxy of another flow": (
            line + '[[proxies]]\nnode = "server"\nbuffer = "1 MB"\nflows = ["g"]\n',
            ("proxies[0].flows[0]", "g"),
        ),
        "a proxy without a buffer": ('[[proxies]]\nnode = "client"\n', ("proxies[0].buffer", "is missing")),
        "congestion twice": ('congestion = "cubic"\ntcp = { congestion = "bbr" }\n', ("flows[0].congestion",)),
    }
    for name, (text, parts) in more.items():
        yield Case(name, ("run", "wrong.toml"), files=(("wrong.toml", PAIR + text),), parts=("wrong.toml: ", *parts))
    for kind, key, wrong in itertools.product(
        ("point-to-point", "chain", "dumbbell", "star"), ("rate", "delay", "flow", "extra"), ("5", "[]", "true")
    ):
        needs = {"chain": "hops = 2", "dumbbell": "pairs = 2", "star": "leaves = 2"}.get(kind, "")
        right = {"rate": '"1 Mbit/s"', "delay": '"1 ms"'} | {key: wrong}
        lines = "\n".join(f"{name} = {value}" for name, value in right.items())
        text = f'duration = "1 s"\n[topology]\nkind = "{kind}"\n{needs}\n{lines}\n'
        yield Case(
            f"{kind} {key}={wrong}", ("run", "wrong.toml"), files=(("wrong.toml", text),), parts=(f"topology.{key}",)
        )
    for kind, key in (("chain", "hops"), ("dumbbell", "pairs"), ("star", "leaves")):
        for wrong in ("0", "-1", "1.5", '"2"', "true", "99999999999"):
            text = (
                f'duration = "1 s"\n[topology]\nkind = "{kind}"\n{key} = {wrong}\nrate = "1 Mbit/s"\ndelay = "1 ms"\n'
            )
            files = (("wrong.toml", text),)
            yield Case(f"{kind} {key}={wrong}", ("run", "wrong.toml"), files=files, parts=(f"topology.{key}",))


# --- text --------------------------------------------------------------------------------------------------------------


def texts() -> Iterator[Case]:
    lines = PAIR.splitlines()
    for at, line in enumerate(lines):
        if "=" in line:
            key = line.split("=")[0].strip()
            for name, broken in (
                ("no value", f"{key} ="),
                ("no equals", line.replace("=", " ", 1)),
                ("two equals", line.replace("=", "= =", 1)),
                ("an open text", f'{key} = "open'),
                ("twice", f"{line}\n{line}"),
            ):
                text = "\n".join([*lines[:at], broken, *lines[at + 1 :]])
                parts = ("wrong.toml: line", "not TOML")
                yield Case(f"{name}: {key} {at}", ("run", "wrong.toml"), files=(("wrong.toml", text),), parts=parts)
    for at in range(10, len(PAIR) - 2, 9):
        data = PAIR.encode()[:at] + b"\xff" + PAIR.encode()[at:]
        parts = ("wrong.toml: ", f"byte {at} is not UTF-8", "save the file as UTF-8")
        yield Case(f"byte {at}", ("run", "wrong.toml"), files=(("wrong.toml", data),), parts=parts)
    for name, data in (("empty", b""), ("a blank", b" \n"), ("a comment", b"# nothing\n"), ("a zero", b"\0")):
        yield Case(name, ("run", "wrong.toml"), files=(("wrong.toml", data),), parts=("wrong.toml: ",))
    for name in ("nowhere.toml", "no/where.toml", "x" * 300, "carrot", "geo.tml", "pair.toml/x", ""):
        yield Case(f"file {name:.20}", ("run", name), parts=())


# --- JSON --------------------------------------------------------------------------------------------------------------


def jsons() -> Iterator[Case]:
    text = json.dumps(tree())

    def case(name: str, broken: str | bytes, *parts: str) -> Case:
        return Case(name, ("run", "wrong.json"), files=(("wrong.json", broken),), parts=("wrong.json: ", *parts))

    for at in range(1, len(text) - 1, max(1, len(text) // 40)):
        yield case(f"cut at {at}", text[:at], "line 1, column", "not JSON")
    for key in (
        "name",
        "duration",
        "seed",
        "links",
        "flows",
        "between",
        "rate",
        "delay",
        "queue",
        "loss",
        "from",
        "to",
    ):
        twice = text.replace(f'"{key}":', f'"{key}": 1, "{key}":', 1)
        yield case(f"{key} twice", twice, f'the key "{key}" is there twice; keep one')
    for whole in (
        "null",
        "[]",
        "7",
        '"text"',
        "true",
        "[[]]",
        "NaN",
        "Infinity",
        "-",
        "{]",
        "{,}",
        "{'a': 1}",
        "{a: 1}",
    ):
        yield case(whole, whole)
    for tail in ("x", "{}", ",", "]", "//", "\x00"):
        yield case(f"tail {tail!r}", text + tail, "not JSON")
    yield case("deep", "[" * 5000, "not JSON")
    yield case("halves", text.replace("client", "\\ud800"), "not JSON")
    yield case("numbers", text.replace("0.001", "1e999"), "not JSON")


# --- --vary, compare ---------------------------------------------------------------------------------------------------


def varied() -> Iterator[Case]:
    def case(name: str, *arguments: str, parts: tuple[str, ...]) -> Case:
        return Case(name, ("compare", "pair.toml", "-n", "1", *arguments), parts=parts)

    for key, values in KEYS:
        if key in ("seed", "name", "flows.0.tcp.congestion"):
            continue
        for value in [one for one in values if not set(one) & set(",{}[]'") and one.strip()][:3]:
            yield case(f"{key}={value}", "-c", "cubic", "--vary", f"{key}={value}", parts=(last(key),))
    for text in ("links.0.loss", "=1,2", "", "=", " =1"):
        yield case(f"--vary {text!r}", "-c", "cubic", "--vary", text, parts=("--vary", "is not KEY=V1,V2"))
    for text in ("links.0.loss=", "links.0.loss=,", "links.0.rate= , "):
        yield case(f"--vary {text!r}", "-c", "cubic", "--vary", text, parts=("has no value",))
    for text in ("links.0.loss=0,0", "links.0.delay=1 ms,2 ms,1 ms"):
        yield case(text, "-c", "cubic", "--vary", text, parts=("appears twice",))
    for text in ("seed=1,2", "defaults.tcp.congestion=cubic,bbr", "defaults.congestion=cubic", "links.0.loss+seed=1"):
        yield case(text, "-c", "cubic", "--vary", text, parts=())
    for text in ("links.0.loss=[0", "links.0.loss={0", "links.0.loss='0", 'links.0.loss="0', "links.0.queue=(1"):
        yield case(text, "-c", "cubic", "--vary", text, parts=("is missing at the end",))
    for label in ("congestion", "seed", "measure", "mean", "runs", "flow", "timeouts"):
        yield case(
            label, "-c", "cubic", "--vary", f"{label}: links.0.loss=0,1e-3", parts=(label, "cannot be the label")
        )
    for keys in ("+", "links.0.loss+", "+links.0.loss", "links.0.loss++links.0.delay"):
        yield case(keys, "-c", "cubic", "--vary", f"{keys}=1,2", parts=("names no key",))
    yield case(
        "a key twice", "-c", "cubic", "--vary", "links.0.loss=0", "--vary", "links.0.loss=1", parts=("varies twice",)
    )
    for names in (
        ",",
        "carrot",
        "cubic,cubic",
        "cubic,carrot",
        "cubic/carrot",
        "{",
        "{}",
        "{ a = 1 }",
        "cubic/",
        "'cubic",
    ):
        yield case(f"-c {names}", "-c", names, parts=())
    for beta in ("2", "-1", "'x'", "nan", "true"):
        yield case(f"beta {beta}", "-c", f"{{ algorithm = 'cubic', beta = {beta} }}", parts=("beta",))
    for name in ("gif", "pdf,gif", "PDF", "none,pdf", "jpeg"):
        yield case(f"--figures {name}", "-c", "cubic", "--figures", name, parts=("--figures", "is not one of"))
    for count in ("1000000000", "1000000000000"):
        yield Case(f"-n {count}", ("compare", "pair.toml", "-n", count), parts=("runs", "vary less"))


# --- flags -------------------------------------------------------------------------------------------------------------

COMMANDS = {
    "run": ("run", "pair.toml"),
    "compare": ("compare", "pair.toml"),
    "plot": ("plot", "results"),
    "diff": ("diff", "geo", "leo"),
    "reproduce": ("reproduce", "scps-ns3"),
    "validate": ("validate", "tcp"),
    "list": ("list", "queues"),
    "explain": ("explain", "cubic"),
    "check": ("check", "pair.toml"),
    "schema": ("schema",),
    "replay": ("replay", "x.pcap"),
    "inspect": ("inspect", "x.pcap"),
    "emulate": ("emulate", "pair.toml"),
    "serve-tcp": ("serve-tcp",),
    "studio": ("studio",),
    "connect": ("connect",),
    "compare-capture": ("compare-capture", "a.pcap", "b.pcap"),
}


def flags() -> Iterator[Case]:
    def usage(*arguments: str, parts: tuple[str, ...] = ()) -> Case:
        return Case(" ".join(arguments), arguments, parts=parts, usage=True)

    for command in COMMANDS.values():
        for wrong in ("--what", "-X", "--no-force"):
            yield usage(*command, wrong)
    for command in ("run", "compare", "plot", "reproduce", "validate", "list", "explain", "check", "inspect", "diff"):
        yield usage(command)
    yield usage("replay")
    yield usage("diff", "geo")
    yield usage("diff", "geo", "leo", "mars")
    for wrong in ("-1", "x", "1.5", "", "1e3", "9223372036854775808"):
        for command in ("run", "compare"):
            yield usage(*COMMANDS[command], "--seed", wrong, parts=("--seed",))
    for wrong in ("5", "soon", "-1 s", "0 s"):
        for command in ("run", "compare"):
            name = f"{command} --duration {wrong}"
            yield Case(name, (*COMMANDS[command], "--duration", wrong), parts=("duration", wrong))
    for wrong in ("0", "-1", "x", "1.5", ""):
        for command in ("run", "compare", "reproduce", "validate"):
            yield usage(*COMMANDS[command], "--jobs", wrong, parts=("--jobs",))
        for arguments in (COMMANDS["compare"], ("validate", "congestion", "cubic")):
            yield usage(*arguments, "--replications", wrong, parts=("--replications",))
        for command in ("reproduce", "validate"):
            yield usage(*COMMANDS[command], "--seeds", wrong, parts=("--seeds",))
        yield usage(*COMMANDS["replay"], "--queue", wrong, parts=("--queue",))
    for wrong in ("fly", "Run", "runs", "--versions", "-v"):
        yield usage(wrong)
    for command, more in (("list", "queues"), ("explain", "bbr"), ("schema", "x"), ("run", "geo")):
        yield usage(*COMMANDS[command], more)
    for name in ("flowers", "", "Queues", "queuing", "congestions"):
        yield Case(f"list {name}", ("list", name), parts=("congestion, queues, profiles, scenarios, papers",))
    for name in ("carrot", "", "cubicc", "CUBIC!", "pair.toml"):
        yield Case(f"explain {name}", ("explain", name), parts=(name,))
    for name in ("nobody-2020", "", "scps", "All!"):
        yield Case(f"reproduce {name}", ("reproduce", name), parts=(name,))
    for name in ("flowers", "", "udp"):
        yield Case(f"validate {name}", ("validate", name), parts=("kernel",))
    for name in ("flowers", "", "cubicc", "{ algorithm = 'cubicc' }", "{ algorithm = ", "cubic/bbr"):
        yield Case(f"validate congestion {name}", ("validate", "congestion", name), parts=("congestion",))
    yield Case("validate tcp cubic", ("validate", "tcp", "cubic"), parts=("cubic", "takes no name"))
    for name in ("nowhere/page.md", "pair.toml/page.md"):
        yield Case(f"validate to {name}", ("validate", "tcp", "--out", name), parts=(name.split("/")[0],))
    yield Case("flows of no capture", ("run", "pair.toml", "--pcap-flow", "x"), parts=("--pcap",))
    yield Case("comments of no capture", ("run", "pair.toml", "--pcap-comments"), parts=("--pcap",))
    yield Case("a capture without a folder", ("run", "pair.toml", "--pcap", "--json"), parts=("--out",))
    for place in ("nobody", "client->nobody", "server->", "client->client"):
        yield Case(f"--pcap {place}", ("run", "pair.toml", "--pcap", place), parts=("record.pcap",))
    for flow in ("nobody", "client->", "1"):
        yield Case(
            f"--pcap-flow {flow}", ("run", "pair.toml", "--pcap", "--pcap-flow", flow), parts=("record.pcap", flow)
        )


# --- traces ------------------------------------------------------------------------------------------------------------


def traces() -> Iterator[Case]:
    def case(name: str, content: str | bytes, *parts: str, spec: str = '"t.csv"') -> Case:
        text = PAIR.replace("loss = 1e-3", f"trace = {spec}")
        return Case(
            name, ("run", "t.toml"), files=(("t.toml", text), ("t.csv", content)), parts=("links[0].trace", *parts)
        )

    head = "time_s,rate_bps,delay_s,loss\n"
    good = "0,1000000,0.01,0\n"
    bad = ("", "x", "nan", "inf", "-1", "1e400", '"', "0x1", "1,5", "true", "1 s", "-0.5")
    for column, name in enumerate(("time_s", "rate_bps", "delay_s", "loss")):
        for wrong in bad:
            cells = ["1", "2000000", "0.02", "0.1"]
            cells[column] = wrong
            yield case(f"{name}={wrong}", head + good + ",".join(cells) + "\n", "line 3")
    for heads in (
        "",
        "rate_bps\n1\n",
        "time_s\n0\n",
        "time_s,speed\n0,1\n",
        "time_s,time_s\n0,1\n",
        "a,b\n",
        "0,1\n2,3\n",
    ):
        yield case(f"head {heads!r}", heads)
    yield case("loss above 1", head + "0,1,0,1.5\n", "line 2")
    yield case("back in time", head + "5,1,0,0\n3,1,0,0\n", "line 3")
    yield case("too few", head + "0,1\n", "line 2")
    yield case("too many", head + "0,1,0,0,9\n", "line 2")
    yield case("no rows", head)
    yield case("not UTF-8", b"\xff\xfe\x00")
    for spec in ('"nowhere.csv"', '""', '"."', "5", "[]", '{ file = "t.csv", format = "xls" }', '{ format = "csv" }'):
        yield case(f"spec {spec}", head + good, spec=spec)
    for spec in ('{ file = "t.csv", repeat = 3 }', "{ file = 3 }", '{ file = "t.csv", speed = 1 }'):
        yield case(f"spec {spec}", head + good, spec=spec)
    for wrong in ("x", "-1", "1.5", "5\n3", "", "1,2", "99999999999999999999999", "nan"):
        yield case(f"deliveries {wrong!r}", f"{wrong}\n", spec='{ file = "t.csv", format = "mahimahi" }')


# --- measurements ------------------------------------------------------------------------------------------------------

TABLE = "time_s,rate_mbps,rtt_ms,loss_pct\n"
MEASUREMENTS = {
    "log.csv": (TABLE, ("0,10,40,1", "1,5,60,0")),
    "cell.up": ("", ("0", "5", "10")),
    "networkx_rtt_1_to_2.txt": ("", ("0,40000000", "100000000,41000000")),
    "swarm.tcl": ("$node_(0) set X_ 1\n$node_(0) set Y_ 1\n", ("$node_(1) set X_ 3", "$node_(1) set Y_ 4")),
    "course.mob": ("now=+0ns node=0 pos=0:0:0 vel=0:0:0\n", ("now=+0ns node=1 pos=5:0:0 vel=0:0:0",)),
}
"""Files of measurements: what stands first, and lines that may be wrong."""
WRONG_LINES = (
    "x,y,z,w",
    "1,2,3,4,5,6",
    "-5,-1,-1,-1",
    "nan,nan,nan,nan",
    "1e400,1,1,1",
    '$ns_ at soon "$node_(1) setdest 1 1 1"',
    "now=1",
)


def imported() -> Iterator[Case]:
    given = ("--rate", "1 Mbit/s", "--delay", "1 ms")
    for file, (head, lines) in MEASUREMENTS.items():
        kind = {"log.csv": "csv", "cell.up": "mahimahi", "swarm.tcl": "ns2", "course.mob": "ns3"}.get(file, "hypatia")
        for at, wrong in enumerate(WRONG_LINES):
            text = head + "\n".join([*lines, wrong]) + "\n"
            if kind == "ns2" and not wrong.startswith("$"):
                # Lines of other programs are left out, as by those that read such files.
                continue
            line = text.count("\n")
            arguments = ("import", file, "--from", kind, *given)
            yield Case(f"{file} {at}", arguments, files=((file, text),), parts=(file, f"line {line}: "))
        for name, data in (("empty", b""), ("blank", b"\n \n"), ("bytes", b"\xff\xfe\xfd\x00\x80")):
            yield Case(f"{file} {name}", ("import", file, "--from", kind, *given), files=((file, data),), parts=(file,))
        for other in ("iperf3", "irtt", "ping", "capture"):
            text = head + "\n".join(lines) + "\n"
            yield Case(
                f"{file} as {other}", ("import", file, "--from", other, *given), files=((file, text),), parts=(file,)
            )
    table = (("log.csv", TABLE + "0,10,40,1\n"),)
    for column in (
        "",
        "rate",
        "rate=",
        "=x",
        "speed=rate_mbps",
        "rate=nothing:Mbit/s",
        "rate=rate_mbps:parsec",
        "rate=rate_mbps:",
    ):
        yield Case(
            f"--column {column}",
            ("import", "log.csv", "--column", column, "-o", "y.toml"),
            files=table,
            parts=("--column",),
        )
    for rate in ("fast", "5", "-1 Mbit/s", "0 bit/s"):
        yield Case(f"--rate {rate}", ("import", "log.csv", "--rate", rate), files=table, parts=("rate", rate))
    for name in ("a/b", ".x", "a b", ""):
        yield Case(f"--name {name}", ("import", "log.csv", "--name", name), files=table, parts=("--name",))
    yield Case("import nothing", ("import", "nowhere.csv"), parts=("nowhere.csv", "no such file"))
    yield Case("import a folder", ("import", "."), parts=("is a folder",))
    yield Case("import of no kind", ("import", "log.csv", "--from", "excel"), files=table, parts=("excel", "iperf3"))
    for option, wrong in (("--rtt", "5"), ("--rate", "fast"), ("--path", "mars"), ("-c", "cubicc")):
        yield Case(f"new scenario {option}", ("new", "scenario", "mine", option, wrong), parts=(wrong,))
    for name in ("a/b", ".x", "", "a b"):
        yield Case(f"new scenario {name}", ("new", "scenario", name), parts=("name",))


# --- constellations ----------------------------------------------------------------------------------------------------

SKY = """duration = "1 s"
[constellation]
start = "2000-06-28T00:00:00Z"
file = "sky.elements"
isls = "none"
uplink = { rate = "10 Mbit/s" }
downlink = { rate = "20 Mbit/s" }
[[stations]]
name = "Paris"
[[stations]]
name = "Rome"
[[flows]]
from = "Paris"
to = "Rome"
"""
LINES = (
    "1 00005U 58002B   00179.78495062  .00000023  00000-0  28098-4 0  4753",
    "2 00005  34.2682 348.7242 1859667 331.7664  19.3264 10.82419157413667",
)
ELEMENTS = {
    "OBJECT_NAME": "VANGUARD",
    "EPOCH": "2000-06-27T18:50:19",
    "MEAN_MOTION": 10.82,
    "ECCENTRICITY": 0.18,
    "INCLINATION": 34.2,
    "RA_OF_ASC_NODE": 348.7,
    "ARG_OF_PERICENTER": 331.7,
    "MEAN_ANOMALY": 19.3,
    "NORAD_CAT_ID": 5,
}


def summed(line: str) -> str:
    """A line of elements with the checksum that it should have."""
    digits = sum(int(letter) if letter.isdigit() else letter == "-" for letter in line[:68])
    return line[:68] + str(digits % 10)


def skies() -> Iterator[Case]:
    def case(name: str, elements: str | bytes, *parts: str) -> Case:
        files = (("sky.toml", SKY), ("sky.elements", elements))
        return Case(name, ("run", "sky.toml"), files=files, parts=("constellation.file", *parts))

    first, second = LINES
    for at, line in enumerate(LINES):
        rest = list(LINES)
        for name, wrong in (
            ("too long", line + "0"),
            ("too short", line[:60]),
            ("another checksum", line[:-1] + str((int(line[-1]) + 1) % 10)),
            ("a letter as checksum", line[:-1] + "x"),
            ("a tab", line[:8] + "\t" + line[9:]),
            ("not ASCII", line[:8] + "ü" + line[9:]),
            ("another number", f"3{line[1:]}"),
            ("left out", ""),
            ("twice", f"{line}\n{line}"),
            ("a digit more", line[:20] + "1" + line[20:-1]),
        ):
            rest[at] = wrong
            yield case(f"line {at + 1} {name}", "\n".join(rest) + "\n", "line ")
    for name, line, columns, text in (
        ("no day", 0, (20, 23), "abc"),
        ("the day 400", 0, (20, 23), "400"),
        ("no drag", 0, (53, 61), " abcd-4 "),
        ("an inclination of 190", 1, (8, 16), "190.0000"),
        ("no inclination", 1, (8, 16), "  x.xxxx"),
        ("no node", 1, (17, 25), "three   "),
        ("no eccentricity", 1, (26, 33), "18a9667"),
        ("no anomaly", 1, (43, 51), " nineten"),
        ("no motion", 1, (52, 63), " 0.00000000"),
        ("a motion of 19", 1, (52, 63), "19.82419157"),
        ("a motion of text", 1, (52, 63), "ten.8241915"),
        ("another satellite", 1, (2, 7), "00006"),
    ):
        rest = list(LINES)
        start, end = columns
        rest[line] = summed(rest[line][:start] + text + rest[line][end:])
        yield case(name, "\n".join(rest) + "\n", "line ")
    yield case("the same twice", f"{first}\n{second}\n{first}\n{second}\n", "line 3", "also that of line 1")
    yield case("mixed forms", f"A\n{first}\n{second}\n{first}\n{second}\n", "line ")
    yield case("nothing", "", "there are no elements")
    yield case("a word", "satellites\n", "line 1")
    yield case("not UTF-8", b"\xff\xfe\x00\x01")
    for field in ELEMENTS:
        if field != "OBJECT_NAME":
            left = {key: value for key, value in ELEMENTS.items() if key != field}
            yield case(f"JSON without {field}", json.dumps([left]), f"object 1: {field}: is missing")
            yield case(f"CSV without {field}", ",".join(left) + "\n" + ",".join(map(str, left.values())) + "\n", field)
        if field not in ("OBJECT_NAME",):
            for wrong in ("x", "", [], None, 1e9) if field != "EPOCH" else ("x", "", "2000-13-01T00:00:00", 5, None):
                if field == "NORAD_CAT_ID" and wrong == 1e9:
                    wrong = 0.5
                yield case(f"JSON {field}={wrong!r}", json.dumps([{**ELEMENTS, field: wrong}]), f"object 1: {field}")
    for key, wrong in (
        ("MEAN_ELEMENT_THEORY", "DSST"),
        ("REF_FRAME", "GCRF"),
        ("TIME_SYSTEM", "GPS"),
        ("CENTER_NAME", "MARS"),
    ):
        yield case(f"{key}={wrong}", json.dumps([{**ELEMENTS, key: wrong}]), f"object 1: {key}", wrong)
    good = json.dumps([ELEMENTS])
    for name, broken in (("open", good[:-1]), ("numbers", "[1, 2]"), ("empty", "[]")):
        yield case(f"JSON {name}", broken)
    yield case("JSON twice", json.dumps([ELEMENTS, ELEMENTS]), "object 2", "also that of object 1")
    head, row = ",".join(ELEMENTS), ",".join(map(str, ELEMENTS.values()))
    for name, broken in (
        ("head alone", f"{head}\n"),
        ("a field more", f"{head}\n{row},1\n"),
        ("a field less", f"{head}\n{row[:-2]}\n"),
        ("a column twice", f"{head},EPOCH\n{row},2000-06-27T18:50:19\n"),
        ("twice", f"{head}\n{row}\n{row}\n"),
        ("an open quote", f'{head}\n"{row}\n'),
    ):
        yield case(f"CSV {name}", broken, "line " if name != "head alone" else "")


# --- captures ----------------------------------------------------------------------------------------------------------


def captures() -> Iterator[Case]:
    def case(command: str, name: str, content: bytes, *parts: str) -> Case:
        arguments = (command, "x.pcap") if command != "compare-capture" else (command, "x.pcap", "x.pcap")
        return Case(f"{command} {name}", arguments, files=(("x.pcap", content),), parts=("x.pcap", *parts))

    little = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 101)
    block = struct.pack("<IIIHHqI", 0x0A0D0D0A, 28, 0x1A2B3C4D, 1, 0, -1, 28)
    junk = {
        "empty": b"",
        "a byte": b"\xd4",
        "text": b"this is no capture at all",
        "zeros": bytes(64),
        "ones": b"\xff" * 64,
        "JSON": b'{"packets": []}',
        "another magic": b"\x0a\x0d\x0d\x0b" + bytes(60),
        "gzip": b"\x1f\x8b\x08" + bytes(40),
        "a version": struct.pack("<IHHiIII", 0xA1B2C3D4, 9, 9, 0, 0, 65535, 101),
    }
    junk |= {f"{size} bytes of a header": little[:size] for size in (3, 5, 8, 16, 23)}
    junk |= {f"{size} bytes of a block": block[:size] for size in (5, 8, 12, 20)}
    junk["a block too short"] = block[:4] + struct.pack("<I", 4) + block[8:]
    junk["an order of bytes"] = block[:8] + b"\1\2\3\4" + block[12:]
    for command, (name, content) in itertools.product(("inspect", "replay", "compare-capture"), junk.items()):
        yield case(command, name, content)
    for command in ("inspect", "replay"):
        yield Case(f"{command} nothing", (command, "nowhere.pcap"), parts=("nowhere.pcap",))
        yield Case(f"{command} a folder", (command, "."), parts=("folder",))
    yield case("replay", "without packets", little)
    yield case("compare-capture", "without packets", little)
    for flow in ("7", "x", "1.2.3.4", "1.2.3.4:5", "-", "1.2.3.4:5-6.7.8.9:1"):
        arguments = ("inspect", "x.pcap", "--flow", flow)
        yield Case(f"--flow {flow}", arguments, files=(("x.pcap", little),), parts=(flow,))


# --- folders of results ------------------------------------------------------------------------------------------------

HEAD = ("scenario", "seed", "version", "simulated_s", "wall_s", "packet_hops", "result_hash", "interrupted")
WRONG: tuple[object, ...] = (None, [], {}, float("nan"), [1], -1.5)


def damaged(kept: Path, compared: Path) -> Iterator[Case]:
    """Results folders that something has happened to."""
    about = json.loads((kept / "run.json").read_text())

    def case(name: str, change: Callable[[Path], object], *parts: str, of: Path = kept, command: str = "plot") -> Case:
        def prepare() -> None:
            folder = Path("bad")
            folder.mkdir()
            for path in of.iterdir():
                if path.is_file():
                    (folder / path.name).symlink_to(path)
            change(folder)

        return Case(name, (command, "bad"), prepare=prepare, parts=("bad", *parts))

    def replaced(name: str, content: bytes | str) -> Callable[[Path], object]:
        def change(folder: Path) -> None:
            (folder / name).unlink(missing_ok=True)
            (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())

        return change

    def table(name: str, make: Callable[[pl.DataFrame], pl.DataFrame]) -> Callable[[Path], object]:
        def change(folder: Path) -> None:
            frame = make(pl.read_parquet(kept / f"{name}.parquet"))
            (folder / f"{name}.parquet").unlink()
            frame.write_parquet(folder / f"{name}.parquet")

        return change

    for key, wrong in itertools.product(HEAD, WRONG):
        text = json.dumps(about | {key: wrong})
        if not (key in ("simulated_s", "wall_s", "packet_hops") and wrong == -1.5):
            yield case(f"{key} {wrong}", replaced("run.json", text), key, "run.json")
        yield case(f"no {key} {wrong}", replaced("run.json", json.dumps({k: v for k, v in about.items() if k != key})))
    for name, text in (
        ("empty", ""),
        ("null", "null"),
        ("list", "[]"),
        ("number", "7"),
        ("cut", '{"seed":'),
        ("deep", "[" * 9999),
    ):
        yield case(f"run.json {name}", replaced("run.json", text))
    yield case("run.json bytes", replaced("run.json", b"\xff\xfe"), "run.json")
    yield case("run.json gone", lambda folder: (folder / "run.json").unlink(), "run.json")
    shown = ("flows", "links", "trace", "queue")
    metrics = {"flows": "sequence", "links": "queue", "trace": "cwnd", "queue": "queue"}
    for name in ("trace", "queue", "flows", "links"):
        loader = Case("", ("plot", "bad", "-m", metrics[name])) if name in ("trace", "queue") else None
        for other in shown:
            if other != name:
                content = (kept / f"{other}.parquet").read_bytes()
                yield _load(case(f"{name} is {other}", replaced(f"{name}.parquet", content), f"{name}.parquet"), name)
        for label, content in (
            ("empty", b""),
            ("text", b"PAR1 no PAR1"),
            ("cut", (kept / f"{name}.parquet").read_bytes()[:200]),
        ):
            yield _load(case(f"{name} {label}", replaced(f"{name}.parquet", content), f"{name}.parquet"), name)
        yield _load(case(f"{name} gone", lambda folder, name=name: (folder / f"{name}.parquet").unlink(), name), name)
        frame = pl.read_parquet(kept / f"{name}.parquet")
        assert loader is None or loader.arguments
        for column, kind in frame.schema.items():
            yield _load(case(f"{name} without {column}", table(name, lambda t, c=column: t.drop(c)), column), name)
            other_kind = pl.Float32 if kind == pl.String else pl.String
            retype = lambda t, c=column, k=other_kind: t.with_columns(pl.lit(None).cast(k).alias(c))
            yield _load(case(f"{name}.{column} of another type", table(name, retype), column), name)
            if kind.is_float():
                for value in (float("nan"), float("inf")):
                    hurt = lambda t, c=column, v=value: t.with_columns(pl.lit(v).alias(c))
                    yield _load(case(f"{name}.{column} {value}", table(name, hurt), column, "finite"), name)
    design = json.loads((compared / "run.json").read_text())
    lines = (compared / "curves.jsonl").read_text()
    for key, wrong in itertools.product(
        ("competitors", "variables", "seed", "replications", "scenario"), (None, "x", [7], {}, -1)
    ):
        if key == "variables" and wrong == {}:
            continue
        text = json.dumps(design | {"design": design["design"] | {key: wrong}})
        yield case(f"design {key} {wrong}", replaced("run.json", text), "comparison", of=compared)
    entry = json.loads(lines.splitlines()[0])
    for key, wrong in itertools.product(entry["outcome"], ("x", [None], {"a": 1}, float("nan"), True)):
        if key == "jain" and wrong != wrong:
            # Flows that delivered nothing have no index.
            continue
        text = wrong == "x" and key in ("congestion", "bottleneck", "result_hash")
        changed = json.dumps(entry | {"outcome": entry["outcome"] | {key: wrong}})
        if not (text and key != "congestion"):
            yield case(f"outcome {key} {wrong}", replaced("curves.jsonl", changed + "\n"), "comparison", of=compared)
    for label, text in (("empty", ""), ("cut", lines[:100]), ("text", "x\n"), ("null", "null\n"), ("{}", "{}\n")):
        yield case(f"curves {label}", replaced("curves.jsonl", text), "comparison", of=compared)


def _load(case: Case, table: str) -> Case:
    """Read as a program reads it."""
    reads: Callable[[], object] = lambda: getattr(ll.load("bad"), "summary" if table in ("flows", "links") else table)
    if table == "trace":
        reads = lambda: ll.load("bad").trace("cwnd")
    return Case(case.name, call=reads, prepare=case.prepare, parts=case.parts)


# --- writing -----------------------------------------------------------------------------------------------------------


def writing() -> Iterator[Case]:
    prepared: dict[str, Callable[[], object]] = {
        "a file": lambda: Path("out").write_text(""),
        "a link": lambda: Path("out").symlink_to("nowhere"),
        "a full folder": lambda: (Path("out").mkdir(), Path("out/thesis.tex").write_text("")),
        "a folder": lambda: Path("out").mkdir(),
        "results": lambda: (Path("out").mkdir(), Path("out/run.json").write_text("{}")),
        "a fifo": lambda: __import__("os").mkfifo("out"),
    }
    commands = {
        "run": ("run", "pair.toml"),
        "compare": ("compare", "pair.toml", "-c", "cubic", "-n", "1"),
        "reproduce": ("reproduce", "scps-ns3"),
        "replay": ("replay", "x.pcap"),
    }
    for (what, prepare), (name, command) in itertools.product(prepared.items(), commands.items()):
        yield Case(f"{name} to {what}", (*command, "--out", "out"), prepare=prepare, parts=("out",))
        if what in ("a file", "a link", "a full folder", "a fifo"):
            yield Case(
                f"{name} to {what} by force", (*command, "--out", "out", "--force"), prepare=prepare, parts=("out",)
            )
    for out in (
        "",
        "..",
        "/",
        "x" * 250,
        "y" * 300,
        "pair.toml/deep",
        "pair.toml/a/b",
        "a/" + "z" * 260,
        "/proc/none/x",
        "/dev/null/x",
    ):
        for name, command in commands.items():
            parts = ("is not a folder",) if out.startswith(("pair.toml", "/dev")) else (out[-12:],)
            yield Case(f"{name} to {out:.12}", (*command, "--out", out), parts=parts)
    for name in ("cwnd.docx", "cwnd", "cwnd.", ".", "pair.toml", "x.PDFx"):
        yield Case(f"figure {name}", ("plot", "kept", "-o", name), parts=(name, ".pdf"))
    for metric in ("colour", "", "CWND", "cwnd,rrt", "bars"):
        yield Case(f"metric {metric}", ("plot", "kept", "-m", metric), parts=("cwnd, goodput, sequence, rtt, queue",))


# --- injection ---------------------------------------------------------------------------------------------------------


def injected() -> Iterator[Case]:
    for bad in CONTROLS:
        evil = f"a{bad}b"
        name = ascii(bad)
        yield Case(f"file {name}", ("run", evil))
        yield Case(f"set key {name}", ("run", "pair.toml", "--set", f"{evil}=1"))
        yield Case(f"set value {name}", ("run", "pair.toml", "--set", f"duration={evil}"), parts=("duration",))
        yield Case(f"set without {name}", ("run", "pair.toml", "--set", evil), parts=("--set",))
        yield Case(f"node {name}", ("run", "pair.toml", "--set", f"flows.0.to={evil}"), parts=("flows[0].to",))
        yield Case(f"name {name}", ("run", "pair.toml", "--set", f"name={evil}/"), parts=("name",))
        yield Case(f"congestion {name}", ("compare", "pair.toml", "-c", evil))
        yield Case(f"vary {name}", ("compare", "pair.toml", "-c", "cubic", "--vary", f"links.0.loss={evil}"))
        yield Case(f"list {name}", ("list", evil))
        yield Case(f"explain {name}", ("explain", evil))
        yield Case(f"paper {name}", ("reproduce", evil))
        yield Case(f"folder {name}", ("plot", evil))
        yield Case(f"diff {name}", ("diff", "geo", evil))
        yield Case(f"flag {name}", ("run", f"--{evil}"), usage=True)
        yield Case(f"seed {name}", ("run", "pair.toml", "--seed", evil), usage=True)
        yield Case(f"capture {name}", ("inspect", evil))
        yield Case(f"key {name}", ("check", "wrong.json"), files=(("wrong.json", json.dumps(tree() | {evil: 1})),))
        yield Case(f"label {name}", ("compare", "pair.toml", "--vary", f"{evil}: seed=1,2"))


# --- Python ------------------------------------------------------------------------------------------------------------


def python(kept: Path) -> Iterator[Case]:
    net = pair()

    def case(name: str, call: Callable[[], object], *parts: str) -> Case:
        return Case(name, call=call, parts=parts)

    things: tuple[object, ...] = (None, 5, 1.5, True, b"pair.toml", object(), [], lambda: None, {1, 2})
    for thing in things:
        yield case(f"run({thing!r:.10})", lambda t=thing: ll.run(t))
        yield case(f"compare({thing!r:.10})", lambda t=thing: ll.compare([t, t], ["cubic"]))
    changes: tuple[object, ...] = (
        5,
        "a=b",
        b"x",
        ["a.b=c"],
        [("a",)],
        [("a", 1, 2)],
        [3],
        [(1, 2)],
        {1: 2},
        [("seed", None)],
    )
    for sets in changes:
        yield case(f"sets={sets!r}", lambda s=sets: ll.run(net, sets=s), "sets")
        yield case(f"compare sets={sets!r}", lambda s=sets: ll.compare(net, ["cubic"], sets=s), "sets")
    for value in (object(), {1, 2}, 1j, b"x", float("nan"), float("inf"), np.array([1j]), len):
        yield case(f"sets value {value!r:.12}", lambda v=value: ll.run(net, sets={"links.0.loss": v}))
        yield case(f"loss={value!r:.12}", lambda v=value: ll.run({**tree(), "seed": v}), "seed")
    varied: tuple[object, ...] = (
        5,
        1e-3,
        {"links.0.loss": 1e-3},
        {"links.0.loss": "5 ms"},
        {"links.0.loss": None},
        {1: [2]},
    )
    varied += (
        {"links.0.loss": [None]},
        [5],
        [("links.0.loss", [1])],
        {"links.0.loss": []},
        {"links.0.loss": {"a": 1}},
        [b"x"],
    )
    varied += ({"links.0.loss": 5}, {"links.0.loss": b"x"}, {"links.0.loss": True}, {"k": 1e-3}, {"k": [1e-3]})
    for vary in varied:
        yield case(f"vary={vary!r:.30}", lambda v=vary: ll.compare(net, ["cubic"], vary=v))
    for which in (
        5,
        [5],
        [None],
        {"x": 5},
        {"x": [5]},
        [b"cubic"],
        [[]],
        b"cubic",
        ["carrot"],
        [{}],
        [{"algorithm": 5}],
        [],
    ):
        yield case(f"congestion={which!r}", lambda w=which: ll.compare(net, w))
    for count in (0, -1, 1.5, "3", True, [], np.float64(2.0)):
        yield case(
            f"replications={count!r}", lambda c=count: ll.compare(net, ["cubic"], replications=c), "replications"
        )
        yield case(f"jobs={count!r}", lambda c=count: ll.compare(net, ["cubic"], jobs=c), "jobs")
    for seed in (-1, 1.5, "x", [], 2**63, True, np.int64(-3), np.float64(0.5)):
        yield case(f"seed={seed!r}", lambda s=seed: ll.run(net, seed=s), "seed")
    for duration in (30, 1.5, "30", "-1 s", "", [], "soon", np.int32(3)):
        yield case(f"duration={duration!r}", lambda d=duration: ll.run(net, duration=d), "duration")
    for metric in ("colour", "", "CWND", "bars"):
        yield case(f"trace {metric}", lambda m=metric: ll.load(kept).trace(m), metric)
        yield case(f"plot {metric}", lambda m=metric: ll.load(kept).plot(m), metric)
        yield case(f"table {metric}", lambda m=metric: ll.load(kept).table(m), metric)
    for path in ("nowhere", ".", "pair.toml", "x" * 300):
        yield case(f"load {path:.9}", lambda p=path: ll.load(p), path[:9])
        yield case(f"load_comparison {path:.9}", lambda p=path: ll.load_comparison(p), path[:9])
    for table in ("acks", "responses", "proxies"):
        yield case(table, lambda t=table: getattr(ll.load(kept), t))
    for key, wrong in itertools.product(
        ("rate", "delay", "queue", "loss", "header"), (object(), {1}, 1j, float("nan"), b"x")
    ):

        def build(key: str = key, wrong: Any = wrong) -> object:
            built = ll.Network("built")
            built.link("a", "b", **{"rate": "1 Mbit/s", "delay": "1 ms", key: wrong})
            built.flow("a", "b")
            return ll.run(built)

        yield case(f"link {key}={wrong!r:.9}", build, f"links[0].{key}")
