"""Options and arguments of the commands."""

# The calls are wrong on purpose.
# mypy: ignore-errors

from __future__ import annotations

from collections.abc import Iterator

from bad_inputs.case import Case

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
    for command in ("run", "compare", "reproduce", "validate", "list", "explain", "check", "inspect", "diff"):
        yield usage(command)
    yield Case("plot", ("plot",), parts=("no results directory", "--list"))
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
    yield Case("explain cubic bbr", ("explain", "cubic", "bbr"), parts=("link-budget", "omit them"))
    yield Case("explain link-budget --json", ("explain", "link-budget", "--json"), parts=("name the file",))
    yield Case("explain link-budget x", ("explain", "link-budget", "x.toml"), parts=("x.toml", "does not exist"))
    for command, more in (("list", "queues"), ("schema", "x"), ("run", "geo")):
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
        named = ("validate", "bbr", "--congestion", name)
        yield Case(f"validate bbr --congestion {name}", named, parts=("congestion",))
    for name in ("nowhere", "Drain", " "):
        yield Case(
            f"validate bbr --only {name}", ("validate", "bbr", "--only", name), parts=("--only", "startup-plateau")
        )
    yield Case("validate bbr bbr3", ("validate", "bbr", "bbr3"), parts=("--congestion bbr3",))
    yield Case("validate tcp cubic", ("validate", "tcp", "cubic"), parts=("cubic", "takes no name"))
    for name in ("flowers", "", "Netem"):
        arguments = ("validate", "measured", "--section", name)
        yield Case(f"section {name} of measured", arguments, parts=("no section", "hystart"))
    yield Case("data nowhere", ("validate", "measured", "--data", "nowhere"), parts=("--data nowhere",))
    yield Case(
        "data in a file", ("validate", "measured", "--data", "pair.toml"), parts=("--data pair.toml", "is a file")
    )
    yield Case("a scenario without data", ("validate", "measured", "--scenario", "pair.toml"), parts=("--data",))
    yield Case(
        "a section of own data",
        ("validate", "measured", "--section", "netem", "--data", "."),
        parts=("--section", "--data"),
    )
    for name in ("nowhere/page.md", "pair.toml/page.md"):
        yield Case(f"validate to {name}", ("validate", "tcp", "--out", name), parts=(name.split("/")[0],))
    yield Case("flows of no capture", ("run", "pair.toml", "--pcap-flow", "x"), parts=("--pcap",))
    yield Case("comments of no capture", ("run", "pair.toml", "--pcap-comments"), parts=("--pcap",))
    yield Case("a capture without a folder", ("run", "pair.toml", "--pcap", "--json"), parts=("--out",))
    yield Case("qlog of one end", ("run", "pair.toml", "--qlog", "logs", "--pcap", "client"), parts=("record.pcap.at",))
    yield Case("qlog below a file", ("run", "pair.toml", "--qlog", "pair.toml/logs"), parts=("pair.toml", "directory"))
    yield Case("qlog in no directory", ("run", "pair.toml", "--qlog", "nowhere/x.sqlog"), parts=("nowhere",))
    yield Case("qlog on standard output", ("run", "pair.toml", "--qlog", "-"), parts=("-", "sqlog"))
    for place in ("nobody", "client->nobody", "server->", "client->client"):
        yield Case(f"--pcap {place}", ("run", "pair.toml", "--pcap", place), parts=("record.pcap",))
    for flow in ("nobody", "client->", "1"):
        yield Case(
            f"--pcap-flow {flow}", ("run", "pair.toml", "--pcap", "--pcap-flow", flow), parts=("record.pcap", flow)
        )
