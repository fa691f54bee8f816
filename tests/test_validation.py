"""References for congestion control: the renewal model, response functions, and the page that shows them."""

from __future__ import annotations

import importlib
import math
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from interop import __main__ as interop
from interop import cells as interop_cells
from interop.__main__ import Outcome
from lightlag.errors import InputError
from lightlag.validation import theory
from lightlag_papers import PAPERS
from lightlag_papers.validation import Findings, findings, laws, pages, renewal, response, transport, validate
from lightlag_papers.validation.laws import Plain
from lightlag_papers.validation.pages import Page
from lightlag_papers.validation.renewal import FLOWS
from lightlag_papers.validation.response import Cell

BY_LABEL = {algorithm.label: algorithm for algorithm in response.ALGORITHMS}
RENO = BY_LABEL["NewReno"]


def cell(ours: float, formula: float | None = 100.0, model: float | None = 100.0, **changes: float) -> Cell:
    base = Cell(RENO, 1e-4, 0.05, ours, formula, model, losses=600, waiting=0.0)
    return replace(base, **changes)  # type: ignore[arg-type]


def test_closed_forms_have_the_values_of_their_sources() -> None:
    # RFC 3649 §5 and Kelly 2003, and the rows of RFC 9438 §5.1 with the window of Reno where that is larger.
    assert laws.highspeed(1e-4) == pytest.approx(263, rel=5e-3)
    forms = {label: algorithm.formula for label, algorithm in BY_LABEL.items()}
    scalable, cubic, hybla = forms["Scalable"], forms["CUBIC"], forms["Hybla"]
    assert scalable is not None
    assert cubic is not None
    assert hybla is not None
    assert [scalable(p, 0.1) for p in (1e-3, 1e-4)] == pytest.approx([80, 800])
    assert [round(cubic(p, 0.1)) for p in (1e-2, 1e-3, 1e-4, 1e-6)] == [12, 39, 187, 5926]
    assert hybla(1e-4, 0.6) == pytest.approx(24 * theory.mathis(1e-4))
    assert laws.aimd(1e-3, 1, 0.5) == pytest.approx(theory.mathis(1e-3))


def test_integrated_growth_contains_reno_and_scalable() -> None:
    assert laws.power(1e-3, 1, 0, 0.5) == pytest.approx(theory.mathis(1e-3))
    # W' = 0.01 W: ln(8/7) / 0.01 = 13.35 round trips for 1/p segments.
    assert laws.power(1e-3, 0.01, 0.999999, 0.875) == pytest.approx(1e3 / (math.log(8 / 7) / 0.01), rel=1e-4)


def test_the_renewal_model_agrees_with_the_exact_one_of_reno() -> None:
    for p in (1e-3, 1e-4):
        model = renewal.mean_window(Plain(1.0, 0.5), p, 0.1, theory.mathis(p))
        assert model == pytest.approx(theory.reno_random(p, losses=20_000), rel=0.04)


def test_the_renewal_model_agrees_with_the_one_of_cubic() -> None:
    law = laws.Cubic(friendly=False, fast_convergence=False)
    model = renewal.mean_window(law, 1e-4, 0.1, theory.cubic(1e-4, 0.1))
    assert model == pytest.approx(theory.cubic_random(1e-4, 0.1, losses=5_000), rel=0.03)


def test_a_friendly_cubic_is_at_least_as_large_as_an_unfriendly_one() -> None:
    windows = [
        renewal.mean_window(laws.Cubic(friendly=friendly, fast_convergence=False), 1e-3, 0.05, theory.mathis(1e-3))
        for friendly in (True, False)
    ]
    assert windows[0] > 1.5 * windows[1]


def test_growth_in_a_round_trip() -> None:
    window, whole = np.full(FLOWS, 20.0), np.ones(FLOWS)

    def one(law: renewal.Law, at: float, elapsed_s: float = 0.0) -> float:
        return float(renewal.grown(law, np.full(FLOWS, at), whole * elapsed_s, whole, 0.1)[0])

    assert one(Plain(1.0, 0.5), 20) == pytest.approx(21, abs=0.03)
    # Every ACK adds ρ²/W: W² = 20² + 2 · 576 · 20.
    assert one(Plain(576.0, 0.5), 20) == pytest.approx(math.sqrt(400 + 2 * 576 * 20), rel=0.04)
    assert one(laws.highspeed_law(), 1058) == pytest.approx(1058 + 8.136, abs=0.05)
    # H-TCP's α at 3 s is 22, at 2 (1 - 0.5) = 1.
    assert one(laws.Htcp(0.1), 1000, 2.85) == pytest.approx(1022, abs=0.6)
    bic = laws.Bic()
    bic.w_max = whole * 30
    assert float(bic.slope(window, whole, 0.1)[0]) == 5
    assert float(bic.slope(window + 15, whole, 0.1)[0]) == 4


def test_a_cell_states_its_deviation() -> None:
    assert (cell(105).text, cell(105).holds, cell(105).reason) == ("105 (+5%)", True, "")
    random = cell(125, model=120.0)
    assert (random.text, random.holds, random.reason) == ("125 (+25%, model +4%)", True, "random distances")
    bad = cell(150)
    assert (bad.text, bad.holds, bad.reason) == ("**150 (+50%, model +50%)**", False, "")
    runaway = cell(9000)
    assert (runaway.reason, runaway.holds) == ("", False)
    assert (cell(150, p=1e-2).reason, cell(150, p=1e-2).holds) == ("several losses per round trip", None)
    assert (cell(50, waiting=0.2).reason, cell(50, waiting=0.2).holds) == ("timeouts", None)
    assert (cell(50, formula=None).holds, cell(50, formula=None, model=None).text) == (None, "50")


def test_the_page_names_the_cells_outside() -> None:
    cells = [cell(105), cell(125, model=120.0, rtt_s=0.2), cell(150, rtt_s=0.6)]
    page = findings.pages(Findings(cells=cells))["algorithms"]
    text = page.text()
    assert "| NewReno | 1e-4 | 100 | 105 (+5%) | 125 (+25%, model +4%) | **150 (+50%, model +50%)** |" in text
    assert "**Random distances**" in text
    assert "- NewReno: p = 1e-4, 200 ms" in text
    assert "**Not explained:**\n\n- NewReno: p = 1e-4, 600 ms" in text
    assert "1 of 3 cells with an applicable closed form are within 10 % of it, and 1 more" in text
    assert page.result == "2 of 3 windows under random losses and 0 of 0 other comparisons hold."
    assert Findings(cells=cells).failures() == ["NewReno, p = 1e-4, 600 ms: **150 (+50%, model +50%)**"]


@pytest.mark.parametrize("label", ["NewReno", "CUBIC", "Hybla"])
def test_a_cell_is_near_its_model(label: str) -> None:
    algorithm = BY_LABEL[label]
    model = response.model_of(algorithm, 1e-3, 0.05)
    measured = response.cell(algorithm, 1e-3, 0.05, model)
    assert measured.losses > 1000
    assert measured.ours == pytest.approx(model, rel=response.TOLERANCE)


def test_only_algorithms_of_the_engine_are_measured() -> None:
    assert {"newreno", "cubic", "hybla"} <= response.known()
    assert not set(response.missing()) & response.known()


def test_rates_scale_with_the_round_trip_as_the_window_does() -> None:
    ratios = {one.label: one.ratio for one in transport.SCALINGS}
    assert ratios == pytest.approx({"Reno": 10, "CUBIC in its cubic region": 1.778, "Hybla": 1}, rel=1e-3)
    hybla = next(one for one in transport.SCALINGS if one.name == "hybla")
    assert all(check.holds for check in transport.scaling(hybla))


def test_a_destination_that_cannot_hold_pages_is_rejected_before_anything_runs(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no directory"):
        validate(tmp_path / "nowhere" / "pages")
    (tmp_path / "page.md").write_text("")
    with pytest.raises(InputError, match="is a file; name a directory"):
        validate(tmp_path / "page.md")


def test_pages_of_other_commands_stay_and_are_in_the_index(tmp_path: Path) -> None:
    folder = tmp_path / "pages"
    pages.write(folder, {"kernel": Page("The kernel", "3 of 4 hold.", "lightlag validate kernel", "| measured |")})
    kept = (folder / "kernel.md").read_text()
    pages.write(folder, {"closed-forms": Page("Forms", "1 of 1 hold.", "lightlag validate tcp", "| a |")})
    assert (folder / "kernel.md").read_text() == kept
    rows = [line for line in (tmp_path / "pages.md").read_text().splitlines() if line.startswith("| [")]
    assert rows == [
        "| [Forms](pages/closed-forms.md) | 1 of 1 hold. | `lightlag validate tcp` |",
        "| [The kernel](pages/kernel.md) | 3 of 4 hold. | `lightlag validate kernel` |",
    ]
    (folder / "kernel.md").write_text("# Mine\n")
    with pytest.raises(InputError, match=r"kernel\.md: does not start as a page"):
        pages.index(folder)


def test_the_index_of_the_repository_matches_its_pages() -> None:
    root = Path(__file__).parent.parent
    folder = root / pages.FOLDER
    assert (root / "docs/validation.md").read_text("utf-8") == pages.index(folder)
    assert {path.stem for path in folder.glob("*.md")} == {*pages.NAMES, *PAPERS}
    named = {
        name for path in folder.glob("*.md") for name in re.findall(r"\]\((images/[^)]+)\)", path.read_text("utf-8"))
    }
    assert {f"images/{path.name}" for path in (folder / "images").iterdir()} == named


def test_transfers_have_a_page_with_their_counts() -> None:
    lost = Outcome(interop_cells.short()[0], None, "a reset")
    page = interop.page([lost])
    assert (page.result, page.command) == ("0 of 1 transfers pass.", "make interop")
    assert f"- {lost.cell.name()}: a reset" in page.body


@pytest.fixture
def packet_scripts(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Any]:
    """Imports a module of the runner of packet scripts."""
    monkeypatch.syspath_prepend(str(Path(__file__).parent.parent / "benchmarks/simulators/packetdrill"))
    return importlib.import_module


def test_collections_of_packet_scripts_are_rows_of_a_page(tmp_path: Path, packet_scripts: Callable[[str], Any]) -> None:
    page, runs, suites = map(packet_scripts, ("page", "runs", "suites"))
    suite = suites.GOOGLE
    verdicts = [runs.Verdict(suite.title, f"sack/{name}.pkt", "v4", name == "a", "late") for name in ("a", "b")]
    left = [page.Left(suite.title, "zerocopy/c.pkt", suite.excluded[0])]
    page.write_page(tmp_path / "pages", [suite], verdicts, left)
    text = (tmp_path / "pages/packet-scripts.md").read_text()
    assert "**1 of 2 runs of 2 scripts pass: 50.0 %.**" in text
    assert "| google/packetdrill | 3 | 1 | 2 | 1 | 1 of 2 |" in text
    assert "| sack | 1 of 2 |  |  |" in text
    assert "| zero copy | 1 | MSG_ZEROCOPY" in text
    assert "| sack/b.pkt | 1 | not known | late |" in text


def test_scripts_of_freebsd_are_translated(packet_scripts: Callable[[str], Any]) -> None:
    translate = packet_scripts("freebsd").translate
    script = """\
+0.00 `sysctl -w net.inet.tcp.sack.enable=0`
+0.00 `sysctl -w net.inet.tcp.blackhole=0`
+0.00 connect(3, ..., ...) = -1 EINPROGRESS (Operation now in progress)
+0.00 > S  0:0(0) win 65535 <mss 1460,nop,wscale 6,sackOK,TS val 100 ecr 0>
+0.10 < S. 0:0(0) ack 1 win 32767 <mss 1460,sackOK,eol,eol>
+0.00 getsockopt(3, SOL_SOCKET, SO_RCVBUF, [65700], [4]) = 0
+0.10 < F. 1:1(0) ack 1 win 32767
+0.00 >  . 1:1(0) ack 2 win 65535
+0.00 %{ assert tcpi_state == TCPI_CLOSE_WAIT }%
#ifdef FreeBSD
+0.00 > R. 1:1(0) ack 2 win 0
#endif
"""
    assert translate(script).splitlines() == [
        "+0.00 `sysctl -q net.ipv4.tcp_sack=0`",
        "+0.00 `true`",
        "+0.00 connect(3, ..., ...) = -1 EINPROGRESS (Operation now in progress)",
        "+0 setsockopt(3, SOL_TCP, TCP_QUICKACK, [0], 4) = 0",
        "+0.00 > S  0:0(0) <mss 1460,sackOK,TS val 100 ecr 0,nop,wscale 6>",
        "+0.10 < S. 0:0(0) ack 1 win 32767 <mss 1460,sackOK,eol,eol>",
        "+0.00 `true`",
        "+0.10 < F. 1:1(0) ack 1 win 32767",
        "+0~+0.04 >  . 1:1(0) ack 2",
        "+0.00 %{ assert tcpi_state == TCP_CLOSE_WAIT }%",
        "",
        "",
        "",
    ]


@pytest.mark.parametrize(
    ("text", "refused"),
    [
        ("0 socket(..., SOCK_STREAM, IPPROTO_MPTCP) = 3\n", True),
        ("+0 > S 0:0(0) <mss 1460,mpcapable v1 flags[flag_h] nokey>\n", True),
        ("+0 > S 0:0(0) <mss 1460,sackOK>\n", False),
    ],
)
def test_scripts_of_mptcp_are_rejected(
    text: str, refused: bool, tmp_path: Path, packet_scripts: Callable[[str], Any]
) -> None:
    suites = packet_scripts("suites")
    (tmp_path / "a.pkt").write_text(text)
    assert (suites.KERNEL.exclusion(tmp_path, "a.pkt") is suites.MPTCP) == refused
