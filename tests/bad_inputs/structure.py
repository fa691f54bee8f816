"""Scenarios in files: values of another type, invalid keys, tables that contradict each other."""

# The calls are wrong on purpose.
# mypy: ignore-errors

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator

from bad_inputs.case import Case, set_at, tree
from bad_inputs.keys import last
from conftest import PAIR

NUMBERS = (-1, 1.5, 10**30, True, None, "", [], {}, "text", [[]], {"a": 1}, -0.5, 1e308)
PLACES = (
    *("duration", "links.0.rate", "links.0.delay", "links.0.loss", "links.0.queue", "flows.0.from", "flows.0.to"),
    *("flows.0.transfer", "links.0.between", "record", "defaults", "topology", "proxies", "links", "flows"),
)


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
