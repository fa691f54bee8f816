"""Reports in a browser: they make no network requests, axe finds no violations, charts zoom together, tables filter."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import lightlag as ll

# The package of axe imports pytest's plug-ins nowhere, so that both may be missing only where no tests run.
sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is missing: pip install lightlag[dev]")
axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe is missing: pip install lightlag[dev]")

pytestmark = pytest.mark.long

RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        missing = "chromium is missing: apt-get install chromium"
        if os.environ.get("CI"):
            pytest.fail(missing)
        pytest.skip(missing)
    with sync_api.sync_playwright() as play:
        started = play.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-dev-shm-usage"])
        yield started
        started.close()


@pytest.fixture(scope="module")
def run_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    net = ll.Network("two <&> flows")
    net.link("a", "b", rate="10 Mbit/s", delay="40 ms", queue="1 bdp", loss=1e-3)
    net.flow("a", "b", congestion="cubic")
    net.flow("a", "b", congestion="newreno", start="2 s")
    return ll.run(net, duration="20 s").save(tmp_path_factory.mktemp("run") / "out", report=True) / "report.html"


@pytest.fixture(scope="module")
def comparison_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    net = ll.presets.dumbbell(pairs=2, rate="5 Mbit/s", duration="10 s")
    vary = {"topology.delay": [f"{delay} ms" for delay in (5, 10, 20, 40, 80, 160)]}
    found = ll.compare(net, ["cubic", "hybla", "bbr", "peach", "cubic/bbr"], vary=vary, replications=2)
    return found.save(tmp_path_factory.mktemp("comparison") / "out") / "report.html"


@pytest.fixture(scope="module")
def bars_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    net = ll.Network("bars")
    net.link("a", "b", rate="10 Mbit/s", delay="40 ms", queue="1 bdp", loss=1e-3)
    net.flow("a", "b", transfer="2 MB")
    found = ll.compare(net, ["cubic", "hybla", "bbr"], replications=3, duration="30 s")
    return found.save(tmp_path_factory.mktemp("bars") / "out") / "report.html"


PAGES = ["run_page", "comparison_page", "bars_page"]


def opened(browser: Any, path: Path, *, width: int = 1200, scheme: str = "light", media: str = "screen") -> Any:
    """Returns a page, after a check that it has requested nothing but itself and has no error."""
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page = context.new_page()
    asked: list[str] = []
    wrong: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("console", lambda message: wrong.append(message.text) if message.type == "error" else None)
    page.emulate_media(media=media, color_scheme=scheme)
    page.goto(path.as_uri())
    assert asked == [path.as_uri()]
    assert wrong == []
    return page


def box_of(page: Any, selector: str) -> dict[str, float]:
    """Scrolls to an element and returns its position on the screen."""
    element = page.query_selector(selector)
    element.scroll_into_view_if_needed()
    box: dict[str, float] = element.bounding_box()
    return box


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize(("scheme", "width"), [("light", 1200), ("dark", 1200), ("light", 380)])
def test_axe_finds_no_barrier(browser: Any, request: pytest.FixtureRequest, name: str, scheme: str, width: int) -> None:
    page = opened(browser, request.getfixturevalue(name), scheme=scheme, width=width)
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
    found = axe.Axe().run(page, options={"runOnly": RULES})
    assert found.violations_count == 0, found.generate_report()
    assert page.evaluate("document.documentElement.scrollWidth") <= width, "the page is wider than the screen"


@pytest.mark.parametrize("name", PAGES)
def test_every_panel_is_drawn_with_text_as_text(browser: Any, request: pytest.FixtureRequest, name: str) -> None:
    page = opened(browser, request.getfixturevalue(name))
    panels = page.query_selector_all(".panel")
    assert panels
    for panel in panels:
        texts = [text.text_content() for text in panel.query_selector_all("svg text")]
        assert len([text for text in texts if text and text.strip()]) >= 3
        marks = panel.query_selector_all("svg path, svg rect, svg circle")
        assert marks or panel.query_selector("text.note"), panel.get_attribute("aria-label")
        assert len(panel.get_attribute("aria-label") or "") > 20
    drawn = page.inner_html("body").partition("<script")[0]
    assert "NaN" not in drawn
    assert "undefined" not in drawn
    assert "Infinity" not in drawn


def test_the_charts_of_a_run_zoom_together(browser: Any, run_page: Path) -> None:
    page = opened(browser, run_page)

    def labels() -> list[list[str]]:
        return page.eval_on_selector_all(  # type: ignore[no-any-return]
            ".panel", "panels => panels.map(one => [...one.querySelectorAll('text')].map(text => text.textContent))"
        )

    whole = labels()
    assert all("20" in each for each in whole)
    box = box_of(page, "#cwnd .panel")
    page.mouse.move(box["x"] + 0.3 * box["width"], box["y"] + 80)
    page.mouse.down()
    page.mouse.move(box["x"] + 0.5 * box["width"], box["y"] + 80)
    page.mouse.up()
    zoomed = labels()
    assert all(before != after for before, after in zip(whole, zoomed, strict=True)), "one chart did not follow"
    assert all("8" in each for each in zoomed)
    assert not any("16" in each for each in zoomed)
    page.click("text=entire range")
    assert labels() == whole
    page.focus("#rtt .panel")
    page.keyboard.press("+")
    assert all(before != after for before, after in zip(whole, labels(), strict=True))
    page.keyboard.press("0")
    assert labels() == whole


def test_values_are_below_the_pointer(browser: Any, run_page: Path, bars_page: Path) -> None:
    page = opened(browser, run_page)
    box = box_of(page, "#goodput .panel")
    page.mouse.move(box["x"] + 0.5 * box["width"], box["y"] + 80)
    told = page.inner_text("#goodput .told")
    assert "a->b" in told
    assert len(page.query_selector_all(".cross")) == len(page.query_selector_all(".panel")), "a line in every chart"
    page = opened(browser, bars_page)
    box = box_of(page, "#bars .panel")
    page.mouse.move(box["x"] + 0.5 * box["width"], box["y"] + 36)
    told = page.inner_text("#bars .told")
    assert told.startswith("cubic")
    assert "mean: " in told
    assert "runs: 3" in told


def test_lines_hide_and_show(browser: Any, run_page: Path) -> None:
    page = opened(browser, run_page)
    count = "document.querySelectorAll('#cwnd svg path').length"
    before = page.evaluate(count)
    button = page.query_selector("#cwnd .legend button")
    button.click()
    assert button.get_attribute("aria-pressed") == "false"
    assert page.evaluate(count) == before - 1
    button.click()
    assert page.evaluate(count) == before


def test_tables_filter_sort_and_show_all(browser: Any, comparison_page: Path) -> None:
    page = opened(browser, comparison_page)

    def column(at: int) -> list[str]:
        """The values by which the visible rows are sorted, or their text."""
        rows = "[...document.querySelectorAll('h3 ~ .wide table')].find(one => one.rows.length > 20).tBodies[0].rows"
        return page.evaluate(  # type: ignore[no-any-return]
            f"[...{rows}].filter(row => !row.hidden).map(row => row.cells[{at}])"
            ".map(cell => cell.dataset.at ?? cell.textContent)"
        )

    assert len(column(0)) == 25, "the first rows"
    page.click("button:has-text('show all')")
    assert len(column(0)) == 30
    field = page.query_selector("input[type=search]")
    field.fill("hybla 80")
    assert len(column(0)) == 1
    assert all("hybla" in cell for cell in column(0))
    field.fill("")
    head = "table:has(td.n) th:has-text('goodput') button >> nth=1"
    page.click(head)
    values = [float(place) for place in column(2)]
    assert values == sorted(values)
    page.click(head)
    values = [float(place) for place in column(2)]
    assert values == sorted(values, reverse=True)


def test_paper_is_white_and_has_every_row(browser: Any, comparison_page: Path) -> None:
    page = opened(browser, comparison_page, scheme="dark", media="print")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.evaluate("[...document.querySelectorAll('tr')].every(row => !row.hidden)")
    wide = "[...document.querySelectorAll('.panel > svg')].map(one => one.viewBox.baseVal.width)"
    assert max(page.evaluate(wide)) <= 640, "text would be small"
    assert page.pdf(format="A4").startswith(b"%PDF")


def test_without_a_script_the_numbers_are_there(browser: Any, bars_page: Path) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(bars_page.as_uri())
    text = page.inner_text("main")
    assert "hybla" in text
    assert "This chart needs the page's script. Goodput: cubic" in text
