"""Values that keys of a scenario do not take, given to ``--set`` and ``--vary``."""

# The calls are wrong on purpose.
# mypy: ignore-errors

from __future__ import annotations

from collections.abc import Iterator

from bad_inputs.case import Case

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


def last(key: str) -> str:
    return key.rsplit(".", 1)[-1]


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
