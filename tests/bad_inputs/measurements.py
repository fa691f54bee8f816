"""Measurements that ``import`` does not take."""

# The calls are wrong on purpose.
# mypy: ignore-errors

from __future__ import annotations

from collections.abc import Iterator

from bad_inputs.case import Case

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
        yield Case(f"--rate {rate}", ("import", "log.csv", "--rate", rate), files=table, parts=("--rate: ", rate))
    for name in ("a/b", ".x", "a b", ""):
        yield Case(f"--name {name}", ("import", "log.csv", "--name", name), files=table, parts=("--name",))
    yield Case("import nothing", ("import", "nowhere.csv"), parts=("nowhere.csv", "no such file"))
    yield Case("import a folder", ("import", "."), parts=("is a directory",))
    yield Case("import of no kind", ("import", "log.csv", "--from", "excel"), files=table, parts=("excel", "iperf3"))
    for option, wrong in (("--rtt", "5"), ("--rate", "fast"), ("--path", "mars"), ("-c", "cubicc")):
        yield Case(f"new scenario {option}", ("new", "scenario", "mine", option, wrong), parts=(wrong,))
    for name in ("a/b", ".x", "", "a b"):
        yield Case(f"new scenario {name}", ("new", "scenario", name), parts=("name",))
