"""A network of Hypatia: the directory with ``tles.txt``, ``ground_stations.txt`` and perhaps ``isls.txt``.

- ``tles.txt`` starts with the numbers of orbits and of satellites in each; three lines for each satellite follow.
- A row of ``ground_stations.txt`` is ``number,name,latitude,longitude,height`` in degrees and metres, perhaps followed
  by Cartesian coordinates.
- A row of ``isls.txt`` is two numbers of satellites, counted from 0.
- ``description.txt``, if present, has the maximum length of links: ``max_gsl_length_m=1260000.0``.
- ``gsl_interfaces_info.txt``, if present, has the ground interfaces of each satellite and station.

Rates and flows are in other files of Hypatia; this reader uses the values of its examples.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from pathlib import Path

from lightlag.imports import texts
from lightlag.imports.found import Found, Options, Written
from lightlag.imports.sample import Sample
from lightlag.scenario import toml

__all__ = ["ABOUT", "folder_of", "is_network", "read", "recognises"]

ABOUT = "the directory of a network of Hypatia"

ELEMENTS = "tles.txt"
STATIONS = "ground_stations.txt"
ISLS = "isls.txt"
RATE, QUEUE = "10 Mbit/s", "100 packets"
"""Rate and queue of every link in Hypatia's examples."""
DURATION_S = 200.0
"""Duration of Hypatia's examples in seconds."""


def folder_of(path: Path) -> Path:
    """Returns the directory of a network: the given one, or the directory of its file of elements."""
    return path if path.is_dir() else path.parent


def is_network(path: Path) -> bool:
    """Returns true if a path is the directory of a network, or one of its two main files with the other next to it."""
    directory = folder_of(path)
    named = path.is_dir() or path.name in (ELEMENTS, STATIONS, ISLS)
    return named and (directory / ELEMENTS).is_file() and (directory / STATIONS).is_file()


def recognises(sample: Sample) -> bool:
    """Returns True for the directory of a network, or one of its two main files with the other next to it."""
    return is_network(sample.path)


def read(path: Path, options: Options) -> Found:
    """Returns the scenario of a network, with a flow from the first station to the second.

    Raises
    ------
    InputError
        If a file is missing, or a row is wrong; the message names the file and the line.
    """
    directory = folder_of(path)
    if not is_network(path):
        texts.fail(path, f"is not a network of Hypatia; name a directory with {ELEMENTS} and {STATIONS}")
    elements = "".join(f"{row.rstrip()}\n" for _, row in texts.lines(directory / ELEMENTS))
    names = _satellites(directory / ELEMENTS)
    stations = list(_stations(directory / STATIONS))
    if len(stations) < 2:
        texts.fail(directory / STATIONS, "has one station; a flow needs two")
    pairs = list(_isls(directory / ISLS, names)) if (directory / ISLS).exists() else []
    slant = _slant(directory / "description.txt")
    found = Found(f"A network of Hypatia: {len(names)} satellites, {len(stations)} stations, {len(pairs)} links.")
    found.duration_s = DURATION_S
    found.notes.append("Rates, queues and the flow are taken from Hypatia's examples, as these files do not have them.")
    file = f"{directory.resolve().name}-{ELEMENTS}"
    rate = options.rate or RATE
    line = f'{{ rate = {toml.one_line(rate)}, queue = "{QUEUE}" }}'
    lines = [
        "[constellation]",
        f'start = "{_epoch(directory / ELEMENTS)}"  # the epoch of the elements',
        f"file = {toml.one_line(file)}",
    ]
    if slant is None:
        lines.append('elevation = "25 deg"  # not in these files')
    else:
        lines.append(f'visibility = {{ slant = "{slant / 1e3:.10g} km" }}  # max_gsl_length_m')
    lines.append(f"isls = {toml.one_line([list(pair) for pair in pairs]) if pairs else toml.one_line('none')}")
    lines.append(f"isl = {line}")
    lines.append(f"uplink = {line}")
    shared = "" if not _has_interface_for_each(directory, len(names), len(stations)) else ", shared = false"
    lines.append(f"downlink = {line.removesuffix(' }')}{shared} }}")
    lines.append("exact = false  # paths change at steps of 100 ms")
    lines.append('handover = { waiting = "keep" }')
    for name, latitude, longitude, height in stations:
        lines += [
            "",
            "[[stations]]",
            f"name = {toml.one_line(name)}",
            f'latitude = "{latitude:.10g} deg"',
            f'longitude = "{longitude:.10g} deg"',
            *([f'height = "{height:.10g} m"'] if height else []),
        ]
        if not pairs:
            lines.append("relay = true  # without links between satellites, stations pass packets on")
    first, second = stations[0][0], stations[1][0]
    lines += ["", "[[flows]]", f"from = {toml.one_line(first)}", f"to = {toml.one_line(second)}"]
    found.written = Written(tuple(lines), {file: elements})
    return found


def _satellites(path: Path) -> list[str]:
    """Returns the names of the satellites: each third line after the header."""
    rows = texts.lines(path)
    names = [line.strip() for _, line in rows[1::3]]
    if len(rows) % 3 != 1 or not names:
        expected = "three lines for each satellite: name, first and second line of elements"
        texts.fail(path, f"the last satellite is incomplete; after the header, write {expected}", rows[-1][0])
    return names


def _epoch(path: Path) -> str:
    """Returns the epoch of the first satellite, in UTC; all satellites of a network have the same."""
    at, line = texts.lines(path)[2]
    year = texts.number(path, line[18:20], "the year in columns 19 to 20", line=at)
    day = texts.number(path, line[20:32], "the day in columns 21 to 32", line=at, minimum=1.0)
    first = datetime.datetime(int(year) + (2000 if year < 57 else 1900), 1, 1, tzinfo=datetime.UTC)
    if day >= 367:
        texts.fail(path, f"{day:g} is not a day of a year", at)
    return f"{first + datetime.timedelta(days=day - 1):%Y-%m-%dT%H:%M:%S}Z"


def _stations(path: Path) -> Iterator[tuple[str, float, float, float]]:
    """Yields the name, latitude, longitude and height of each station."""
    known: set[str] = set()
    for at, line in texts.lines(path):
        fields = [field.strip() for field in line.split(",")]
        if len(fields) not in (5, 8):
            texts.fail(path, f"{line.strip()!r:.60} is not a row number,name,latitude,longitude,height", at)
        number = len(known)
        if fields[0] != str(number):
            texts.fail(path, f"{fields[0]!r:.20} is not the number of station {number}; number the rows from 0", at)
        name, count = fields[1], 1
        while name in known:
            count += 1
            name = f"{fields[1]} {count}"
        known.add(name)
        latitude = texts.number(path, fields[2], "the latitude", line=at, minimum=-90.0)
        longitude = texts.number(path, fields[3], "the longitude", line=at, minimum=-180.0)
        height = texts.number(path, fields[4], "the height", line=at, minimum=-1000.0)
        if latitude > 90 or longitude > 180:
            texts.fail(path, f"{latitude:g}, {longitude:g} is not a latitude and a longitude in degrees", at)
        yield name, latitude, longitude, height


def _isls(path: Path, names: list[str]) -> Iterator[tuple[str, str]]:
    """Yields the satellites that each link joins."""
    if not path.stat().st_size:
        return
    known: set[tuple[int, int]] = set()
    for at, line in texts.lines(path):
        fields = line.split()
        if len(fields) != 2 or not all(field.isdigit() for field in fields):
            texts.fail(path, f"{line.strip()!r:.60} is not a pair of satellite IDs", at)
        ends = [int(field) for field in fields]
        if max(ends) >= len(names):
            texts.fail(path, f"{max(ends)} is not the ID of a satellite; IDs are 0 to {len(names) - 1}", at)
        if ends[0] == ends[1]:
            texts.fail(path, f"joins satellite {ends[0]} to itself; name two", at)
        first, second = sorted(ends)
        if (first, second) in known:
            texts.fail(path, f"joins satellites {first} and {second}, which are already joined; remove the row", at)
        known.add((first, second))
        yield names[ends[0]], names[ends[1]]


def _slant(path: Path) -> float | None:
    """Returns the maximum length of links to the ground, in metres."""
    if not path.exists():
        return None
    for at, line in texts.lines(path):
        key, _, value = line.strip().partition("=")
        if key == "max_gsl_length_m":
            return texts.number(path, value, "max_gsl_length_m", line=at, minimum=100e3)
    return None


def _has_interface_for_each(directory: Path, satellites: int, stations: int) -> bool:
    """Returns true if satellites have a ground interface for each station."""
    path = directory / "gsl_interfaces_info.txt"
    if not path.exists() or stations < 2:
        return False
    counts = []
    for at, line in texts.lines(path)[:satellites]:
        fields = line.split(",")
        if len(fields) < 2:
            texts.fail(path, f"{line.strip()!r:.60} is not a row node,interfaces,bandwidth", at)
        counts.append(texts.number(path, fields[1], "the number of interfaces", line=at))
    return bool(counts) and min(counts) >= stations
