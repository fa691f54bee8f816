"""Elements of satellites."""

# The calls are wrong on purpose.
# mypy: ignore-errors

from __future__ import annotations

import json
from collections.abc import Iterator

from bad_inputs.case import Case

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
    yield case("the same twice", f"{first}\n{second}\n{first}\n{second}\n", "line 3", "also in line 1")
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
    yield case("JSON twice", json.dumps([ELEMENTS, ELEMENTS]), "object 2", "also in object 1")
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
