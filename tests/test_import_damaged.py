"""Damaged measurements: what can still be read is the same link, everything else is one clear error."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import lightlag as ll
from damages import DAMAGES, SAMPLES, Sample
from lightlag.errors import InputError
from lightlag.imports import KINDS, Options, Page, kind_of, to_scenario
from lightlag.text.terminal import printable
from test_bad_input import REMEDY

HARMLESS = ("line ends of Windows", "a byte-order mark", "UTF-16", "compressed", "no last line end", "blank lines")
"""Damages that change nothing of the values in a file."""
NO_LINE = ("empty", "blank", "half of a compressed file", "a web page", "other separators")
"""Damages that leave no line to name."""
OF_PROBES = ("ping", "fping", "irtt", "lens", "delays", "hypatia")
"""Kinds without a rate."""
SHORTER = "the file is a shorter measurement"
TAKEN = {
    "cut in the middle": {
        "hypatia isls.txt": "the network has fewer links",
        "iperf": SHORTER,
        "nuttcp": SHORTER,
        "nuttcp -fparse": SHORTER,
        "ping": SHORTER,
        "fping": SHORTER,
        "mahimahi": SHORTER,
        "irtt text": SHORTER,
        "delays": SHORTER,
        "hypatia": "no row is incomplete: the last number is shorter",
        "ns3": SHORTER,
    },
    "only the first line": {
        "hypatia isls.txt": "the network has one link",
        "nuttcp -fparse": SHORTER,
        "fping": SHORTER,
        "mahimahi": SHORTER,
        "delays": SHORTER,
        "hypatia": SHORTER,
    },
    "the first line twice": {
        "iperf": "a header of another test without intervals",
        "nuttcp": "a header",
        "ping": "a run without probes",
        "fping": "a duplicate of a reply",
        "irtt text": "a header",
        "mahimahi": "two opportunities in a millisecond",
        "delays": "two equal delays in a row",
        "hypatia": "two rows of one time",
        "ns3": "two rows of one time",
        "bonnmotion": "each line is a node",
        "ns2": "the last position counts",
    },
    "empty": {"hypatia isls.txt": "Hypatia writes it for a network without links between satellites"},
    "bytes in the middle": dict.fromkeys(
        ("iperf", "ping", "irtt text", "hypatia ground_stations.txt"), "they are outside the values"
    ),
    "decimal commas": {
        "iperf3": "only the name of the version has a decimal",
        "ping": "ping prints them in some languages",
        "mahimahi": "it has no decimals",
        "hypatia": "it has no decimals",
    },
    "lines backwards": {
        "hypatia isls.txt": "each line is a link",
        "ping": "the probes have numbers",
        "fping": "the probes have numbers",
        "irtt text": "the probes have numbers",
        "delays": "a delay has no time",
        "ns2": "the positions stand for themselves",
        "bonnmotion": "each line is a node",
    },
    "other separators": {"mahimahi": "it has none", "delays": "it has none", "table": "a table may have them"},
    "another unit": {"table": "the column is not known, and its direction is noted as missing"},
    "a line too short": {
        "irtt": "the number is shorter",
        "LENS ping": "the number is shorter",
        "delays": "the number is shorter",
        "hypatia": "the number is shorter",
        "ns2": "the number is shorter",
        "mahimahi": "the number has one digit",
    },
    "a line too long": {
        "hypatia ground_stations.txt": "Cartesian coordinates may follow",
        "sumo": "it is text between elements",
        "iperf": "it is longer after the values",
        "nuttcp": "it is longer after the values",
        "nuttcp -fparse": "it is longer after the values",
        "ping": "it is longer after the values",
        "fping": "it is longer after the values",
        "irtt text": "it is longer after the values",
        "ns3": "it is longer after the values",
    },
    "a negative number": dict.fromkeys(
        ("ns2", "ns3", "bonnmotion", "sumo", "hypatia ground_stations.txt"), "a position may be negative"
    ),
    "not a number": {
        "har": "a phase without a time did not take place",
        "iperf": "iperf prints it for an interval without data",
        "iperf3": "iperf3 writes it for a value that it cannot compute",
        "irtt": "a probe without a round trip is lost",
        "table": "a cell without a value",
    },
    "infinite": {"iperf": "iperf prints it for an interval of no length", "table": "a cell without a value"},
    "no number": {
        "hypatia isls.txt": "an empty line is not a link",
        "table": "a cell without a value",
        "mahimahi": "an empty line has no value",
    },
}
"""Damages that do not prevent a file from being read, by sample, each with the reason."""


def imported(folder: Path, sample: Sample, data: bytes, *, kind: str | None = None) -> Page:
    for name, text in sample.beside.items():
        (folder / name).write_text(text)
    (folder / sample.file).write_bytes(data)
    rate = "10 Mbit/s" if sample.kind in OF_PROBES else None
    delay = "20 ms" if sample.kind in ("iperf", "nuttcp", "mahimahi") else None
    return to_scenario(folder / sample.file, kind=kind, options=Options(rate=rate, delay=delay))


def run(folder: Path, page: Page) -> None:
    """Runs the start of an imported scenario."""
    for name, text in {f"{page.name}.toml": page.text, **page.files}.items():
        (folder / name).write_text(text)
    ll.run(folder / f"{page.name}.toml", duration="50 ms")


@pytest.mark.parametrize("name", SAMPLES)
def test_a_good_measurement_is_recognised_and_runs(name: str, tmp_path: Path) -> None:
    sample = SAMPLES[name]
    page = imported(tmp_path, sample, sample.text.encode())
    run(tmp_path, page)
    # One module reads all movements.
    assert KINDS[kind_of(tmp_path / sample.file)] == KINDS[sample.kind]


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("name", SAMPLES)
def test_a_damaged_measurement_is_read_or_rejected_with_its_place(name: str, damage: str, tmp_path: Path) -> None:
    sample = SAMPLES[name]
    data = DAMAGES[damage](sample)
    good = imported(tmp_path, sample, sample.text.encode(), kind=sample.kind)
    if data == sample.text.encode():
        return
    said = ""
    try:
        page = imported(tmp_path, sample, data, kind=sample.kind)
    except InputError as error:
        said = str(error)
    if not said:
        if damage in HARMLESS:
            assert page.text == good.text
            # The text of a script of movements does not change.
            assert sample.kind in ("ns2", "ns3", "bonnmotion") or page.files == good.files
        else:
            assert name in TAKEN.get(damage, {}), f"taken for good: {page.text}"
        run(tmp_path, page)
        return
    if (name, damage) == ("bonnmotion", "blank lines"):
        # Each line is a node.
        assert said.endswith("line 4: node 3 has no position")
        return
    assert damage not in HARMLESS, said
    assert name not in TAKEN.get(damage, {}), said
    assert said.startswith(f"{tmp_path}/{sample.file}: "), said
    assert said == printable(said)
    assert REMEDY.search(said), f"no fix: {said}"
    has_place = re.search(r": line \d+: |\[\d+\]\.", said) is not None
    assert has_place or damage in NO_LINE or _names_what_is_missing(said), f"no place: {said}"


def _names_what_is_missing(said: str) -> bool:
    """Returns true if a message states that no line is of this kind, and names one."""
    return re.search(r"has no |has one node|has one station|has not the|nothing arrived|none of ", said) is not None


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("name", ["mahimahi", "table"])
def test_damaged_delays_beside_rates_are_rejected_by_their_own_name(name: str, damage: str, tmp_path: Path) -> None:
    rates, delays = SAMPLES[name], SAMPLES["delays"]
    (tmp_path / rates.file).write_text(rates.text)
    (tmp_path / delays.file).write_bytes(DAMAGES[damage](delays))
    said = ""
    try:
        page = to_scenario(tmp_path / rates.file, options=Options(delays=tmp_path / delays.file))
    except InputError as error:
        said = str(error)
    if said:
        assert said.startswith(f"{tmp_path}/{delays.file}: ")
        assert damage not in HARMLESS, said
        return
    assert damage in HARMLESS or "delays" in TAKEN.get(damage, {}) or damage == "no zone in one row", page.text
    run(tmp_path, page)


def test_every_importer_of_text_has_a_sample() -> None:
    assert {sample.kind for sample in SAMPLES.values()} == set(KINDS) - {"capture"}
    assert len(DAMAGES) >= 20
