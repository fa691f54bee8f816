"""The page that maps INET's classes and the papers' flow chart to the code: everything that it names exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ROW = re.compile(r"^\| (?P<paper>[^|]+) \| (?P<code>[^|]+) \| (?P<files>[^|]+) \| (?P<remark>[^|]*) ?\|$")
NAME = re.compile(r"`([^`]+)`")

CLASSES = """
    Tcp TcpConnection TcpSendQueue TcpReceiveQueue TcpSackRexmitQueue TcpAlgorithm TcpBaseAlg TcpTahoeRenoFamily
    TcpTahoe TcpReno TcpNewReno TcpVegas TcpWestwood DcTcp TcpCubic TcpSegmentTransmitInfoList
""".split()
FUNCTIONS = """
    sendData() dataSent() segmentRetransmitted() receivedDataAck() receivedDuplicateAck() performSSCA() cubic_reset()
    recalculateSlowStartThreshold() cubic_update() cubic_tcp_friendliness() dMin epoch_start
""".split()
PARAMETERS = "sackSupport SACKed limitedTransmitEnabled mss advertisedWindow TCPDump ExtInterface ThruputMeter".split()


def rows(text: str) -> list[re.Match[str]]:
    """The rows of the page's tables, without their heads."""
    found = [row for line in text.splitlines() if (row := ROW.match(line))]
    return [row for row in found if row["files"].startswith("`")]


def missing(row: re.Match[str], root: Path = ROOT) -> list[str]:
    """The files, types and functions of a row that do not exist."""
    files = [root / "crates" / name for name in NAME.findall(row["files"])]
    absent = [str(file) for file in files if not file.is_file()]
    source = "\n".join(file.read_text("utf-8") for file in files if file.is_file())
    for code in NAME.findall(row["code"]):
        owner, _, function = code.rpartition("::")
        if owner and not re.search(rf"\b(impl|struct|enum|trait)\b[^;{{}}\n]*\b{owner}\b", source):
            absent.append(f"{code}: no {owner}")
        kinds = "fn" if owner or function[0].islower() else "struct|enum|trait|type"
        if not re.search(rf"\b({kinds}) {function}\b", source):
            absent.append(f"{code}: no {function}")
    return absent


@pytest.fixture(scope="module")
def page() -> str:
    return (ROOT / "docs" / "inet.md").read_text("utf-8")


def test_each_file_type_and_function_of_the_page_exists(page: str) -> None:
    found = rows(page)
    assert len(found) > 40
    assert [name for row in found for name in missing(row)] == []


def test_each_class_and_function_of_the_papers_has_a_row(page: str) -> None:
    named = {name for row in rows(page) for name in NAME.findall(row["paper"])}
    assert {*CLASSES, *FUNCTIONS, *PARAMETERS} <= named


def test_a_name_that_does_not_exist_is_found(tmp_path: Path) -> None:
    file = tmp_path / "crates" / "one.rs"
    file.parent.mkdir()
    file.write_text("pub struct One;\nimpl One {\n    fn send(&self) {}\n}\n", "utf-8")
    cells = {"`One`, `One::send`": [], "`Two`": ["Two: no Two"], "`One::take`": ["One::take: no take"]}
    cells["`Two::send`"] = ["Two::send: no Two"]
    for code, expected in cells.items():
        (row,) = rows(f"| `Tcp` | {code} | `one.rs` | |")
        assert missing(row, tmp_path) == expected
    (row,) = rows("| `Tcp` | `One` | `two.rs` | |")
    assert missing(row, tmp_path) == [str(tmp_path / "crates" / "two.rs"), "One: no One"]
