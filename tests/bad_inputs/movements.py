"""Movements of nodes and networks of Hypatia that ``import`` does not take."""

# The calls are wrong on purpose, and texts of files are clearer on one line.
# mypy: ignore-errors
# ruff: noqa: E501

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from bad_inputs.case import Case
from bad_inputs.skies import LINES


def movements() -> Iterator[Case]:
    yield from _ns2()
    yield from _ns3()
    yield from _bonnmotion()
    yield from _sumo()
    yield from _hypatia()
    yield from _mahimahi()


def _case(kind: str, name: str, file: str, text: str | bytes, *parts: str) -> Case:
    return Case(
        f"{kind} {name}", ("import", file, "--from", kind), files=((file, text),), parts=parts or (file,)
    )  # fmt: skip


def _ns2() -> Iterator[Case]:
    places = "".join(f"$node_({node}) set {axis}_ {node + 1}.0\n" for node in range(2) for axis in "XYZ")
    move = '$ns_ at {} "$node_({}) setdest {} {} {}"\n'
    for name, line in {
        "a time of text": move.format("soon", 1, 5, 5, 2),
        "a negative time": move.format(-1, 1, 5, 5, 2),
        "a time of years": move.format(1e9, 1, 5, 5, 2),
        "no speed": move.format(1.0, 1, 5, 5, ""),
        "a negative speed": move.format(1.0, 1, 5, 5, -2),
        "a speed of text": move.format(1.0, 1, 5, 5, "fast"),
        "a place of text": move.format(1.0, 1, "here", 5, 2),
        "a place that is no number": move.format(1.0, 1, "nan", 5, 2),
        "a place beyond the Moon": move.format(1.0, 1, 1e12, 5, 2),
        "a speed that never ends": move.format(1.0, 1, 5, 5, "inf"),
        "one coordinate": move.format(1.0, 1, 5, "", ""),
        "no end of the command": '$ns_ at 1.0 "$node_(1) setdest 1 1\n',
        "a coordinate of text": "$node_(1) set X_ east\n",
        "a coordinate without a value": "$node_(1) set X_\n",
        "a coordinate that is no number": "$node_(1) set X_ nan\n",
        "a coordinate beyond the Moon": "$node_(1) set X_ 1e12\n",
    }.items():
        yield _case("ns2", name, "m.tcl", places + line, "m.tcl: line ")
    for name, text in {
        "one node": "$node_(0) set X_ 1\n$node_(0) set Y_ 1\n",
        "no node": "# nothing\nset val(nn) 2\n",
        "only distances": "$god_ set-dist 0 1 2\n",
        "a number without end": f"$node_({'9' * 30}) set X_ 1\n$node_(0) set X_ 1\n",
        "a negative number": "$node_(-1) set X_ 1\n$node_(0) set X_ 1\n",
    }.items():
        yield _case("ns2", name, "m.tcl", text)


def _ns3() -> Iterator[Case]:
    line = "now=+{}ns node={} pos={} vel={}\n"
    start = line.format(0, 0, "0:0:0", "0:0:0")
    for name, wrong in {
        "a time of text": line.format("soon", 1, "5:0:0", "0:0:0"),
        "a negative node": line.format(0, -1, "5:0:0", "0:0:0"),
        "a place of two": line.format(0, 1, "5:0", "0:0:0"),
        "a place of text": line.format(0, 1, "a:b:c", "0:0:0"),
        "a place that is no number": line.format(0, 1, "nan:0:0", "0:0:0"),
        "a place beyond the Moon": line.format(0, 1, "1e13:0:0", "0:0:0"),
        "a time of years": line.format(10**19, 1, "5:0:0", "0:0:0"),
        "another order": "node=1 now=+0ns pos=5:0:0 vel=0:0:0\n",
    }.items():
        yield _case("ns3", name, "m.mob", start + wrong, "m.mob: line 2")
    back = start + line.format(10**10, 1, "5:0:0", "1:0:0") + line.format(10**9, 1, "5:0:0", "1:0:0")
    yield _case("ns3", "back in time", "m.mob", back, "line 3")
    yield _case("ns3", "one node", "m.mob", start)


def _bonnmotion() -> Iterator[Case]:
    first = "0.0 1.0 1.0 10.0 5.0 5.0\n"
    for name, wrong in {
        "a triple that is cut": "0.0 1.0 1.0 10.0 5.0\n",
        "text": "0.0 here 1.0\n",
        "back in time": "5.0 1.0 1.0 3.0 2.0 2.0\n",
        "no number": "0.0 nan 1.0\n",
        "a negative time": "-5.0 1.0 1.0\n",
        "a time of years": "0.0 1.0 1.0 1e9 2.0 2.0\n",
        "a place beyond the Moon": "0.0 1e13 1.0\n",
    }.items():
        yield _case("bonnmotion", name, "m.movements", first + wrong)
    yield _case("bonnmotion", "one node", "m.movements", first)
    yield _case("bonnmotion", "prose", "m.movements", "Dear all,\nwe moved.\n")


def _sumo() -> Iterator[Case]:
    step = '<timestep time="{}"><vehicle id="{}" x="{}" y="{}"/></timestep>'
    good = step.format("0.00", "a", 1, 2)

    def document(*steps: str) -> str:
        return f"<fcd-export>{''.join(steps)}</fcd-export>\n"

    for name, text in {
        "cut": document(good)[:-9],
        "another root": "<routes><vehicle id='a'/></routes>",
        "no vehicle": document('<timestep time="0.00"/>'),
        "one vehicle": document(good),
        "a time of text": document(good, step.format("soon", "b", 1, 2)),
        "a time of years": document(good, step.format("1e9", "b", 1, 2)),
        "back in time": document(good, step.format("5", "b", 1, 2), step.format("3", "b", 1, 2)),
        "a place of text": document(good, step.format("1", "b", "east", 2)),
        "a place beyond the Moon": document(good, step.format("1", "b", "1e13", 2)),
        "no place": document(good, '<timestep time="1"><vehicle id="b"/></timestep>'),
        "no name": document(good, '<timestep time="1"><vehicle x="1" y="2"/></timestep>'),
        "entities": '<!DOCTYPE a [<!ENTITY b "b"><!ENTITY c "&b;&b;">]>' + document(good).replace('id="a"', 'id="&c;"'),
        "empty": "",
    }.items():
        yield _case("sumo", name, "m.xml", text)


def _hypatia() -> Iterator[Case]:
    """Folders and files of Hypatia's satellite network states."""
    good = {
        "tles.txt": f"1 1\nSat 0\n{LINES[0]}\n{LINES[1]}\n",
        "ground_stations.txt": "0,Paris,48.85,2.35,0,0,0,0\n1,Rome,41.9,12.5,0,0,0,0\n",
        "isls.txt": "",
    }

    def folder(name: str, changes: dict[str, str | bytes | None], *parts: str) -> Case:
        def prepare() -> None:
            Path("state").mkdir()
            for file, text in (good | changes).items():
                if text is not None:
                    Path("state", file).write_bytes(text if isinstance(text, bytes) else text.encode())

        return Case(f"Hypatia {name}", ("import", "state", "--rate", "10 Mbit/s"), prepare=prepare, parts=parts or ("state",))  # fmt: skip

    yield folder("without stations", {"ground_stations.txt": None})
    yield folder("without elements", {"tles.txt": None})
    yield folder("empty", dict.fromkeys(good))
    for name, text in {
        "one station": "0,Paris,48.85,2.35,0\n",
        "no station": "",
        "a latitude of 91": "0,Paris,91,2.35,0\n1,Rome,41.9,12.5,0\n",
        "a longitude of 400": "0,Paris,48,400,0\n1,Rome,41.9,12.5,0\n",
        "a latitude of text": "0,Paris,north,2.35,0\n1,Rome,41.9,12.5,0\n",
        "a row that is cut": "0,Paris\n1,Rome,41.9,12.5,0\n",
        "stations in bytes": b"\xff\xfe\x00\x01",
    }.items():
        yield folder(name, {"ground_stations.txt": text}, "ground_stations.txt")
    for name, text in {
        "no header": f"Sat 0\n{LINES[0]}\n{LINES[1]}\n",
        "a header of text": f"one one\nSat 0\n{LINES[0]}\n{LINES[1]}\n",
        "more satellites than lines": f"2 2\nSat 0\n{LINES[0]}\n{LINES[1]}\n",
        "a line that is cut": f"1 1\nSat 0\n{LINES[0]}\n{LINES[1][:40]}\n",
        "a day of 400": f"1 1\nSat 0\n{LINES[0][:20]}400{LINES[0][23:]}\n{LINES[1]}\n",
        "no elements": "1 1\n",
    }.items():
        yield folder(name, {"tles.txt": text}, "tles.txt")
    for name, text in {
        "a pair of text": "0 one\n",
        "one number": "0\n",
        "a satellite that is not there": "0 7\n",
        "a negative satellite": "0 -1\n",
        "a satellite with itself": "0 0\n",
    }.items():
        yield folder(name, {"isls.txt": text}, "isls.txt")
    for name, text in {
        "text": "0,x\n",
        "back in time": "100000000,40000000\n0,41000000\n",
        "one field": "0\n",
        "a round trip of years": f"0,{10**20}\n",
        "a time of years": f"0,40000000\n{10**20},41000000\n",
        "never a path": "0,0\n100000000,0\n",
        "a negative round trip": "0,-5\n",
    }.items():
        yield _case("hypatia", name, "networkx_rtt_0_to_1.txt", text)
    yield _case("hypatia", "a path without lengths", "networkx_path_0_to_1.txt", "0,0-1-2\n")


def _mahimahi() -> Iterator[Case]:
    for name, text in {
        "text": "0\nsoon\n",
        "a fraction": "0\n1.5\n",
        "negative": "0\n-5\n",
        "back in time": "5\n3\n",
        "years": f"0\n{10**12}\n",
        "zeros": "0\n0\n",
        "two a line": "0 5\n10\n",
        "JSON": json.dumps([0, 5]),
    }.items():
        options = ("import", "c.up", "--from", "mahimahi", "--delay", "20 ms")
        yield Case(f"mahimahi {name}", options, files=(("c.up", text),), parts=("c.up",))
    yield Case("mahimahi without a delay", ("import", "c.up"), files=(("c.up", "0\n5\n10\n"),), parts=("--delay",))
