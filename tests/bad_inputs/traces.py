"""Traces of a link."""

# The calls are wrong on purpose.
# mypy: ignore-errors

from __future__ import annotations

from collections.abc import Iterator

from bad_inputs.case import Case
from conftest import PAIR


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
