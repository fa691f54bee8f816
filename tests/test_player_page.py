"""Players in a browser: they make no network requests, play, step and seek, and axe finds no violations."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import lightlag as ll
from lightlag.constellation import player as constellation_player

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is missing: pip install lightlag[dev]")
axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe is missing: pip install lightlag[dev]")

pytestmark = pytest.mark.long

RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
# The processor draws where there is no graphics card.
GL = ["--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
NAME = "</script><script>alert(1)</script>"
KINDS = ["globe", "swarm"]
WAIT_MS = 300_000
"""A timeout that is longer than any machine takes to draw."""


@pytest.fixture(scope="module")
def launch() -> Iterator[Callable[[list[str]], Any]]:
    """Starts a browser with arguments of its own."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        missing = "chromium is missing: apt-get install chromium"
        if os.environ.get("CI"):
            pytest.fail(missing)
        pytest.skip(missing)
    with sync_api.sync_playwright() as play:
        always = ["--no-sandbox", "--disable-dev-shm-usage"]
        yield lambda args: play.chromium.launch(executable_path=chromium, args=[*always, *args])


@pytest.fixture(scope="module")
def browser(launch: Callable[[list[str]], Any]) -> Iterator[Any]:
    started = launch(GL)
    yield started
    started.close()


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("players")
    oneweb = ll.run("oneweb", duration="20 s")
    globe = ll.sky(oneweb.scenario).animation(folder / "globe.html", result=oneweb, title=NAME)
    swarm = ll.run("search-and-rescue", duration="10 s").save(folder / "swarm", pages=True) / "swarm.html"
    frame = constellation_player.player(ll.sky("iridium"), until_s=20.0)
    report = folder / "report.html"
    report.write_text(f'<!doctype html><html lang="en"><title>r</title><body><h1>r</h1>{frame}</body></html>', "utf-8")
    return {"globe": globe, "swarm": swarm, "report": report}


def opened(browser: Any, path: Path, *, width: int = 1200, scheme: str = "light") -> Any:
    """Returns a player that has rendered its first frame, after a check that it has requested no other file and has no
    error.
    """
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    context.set_default_timeout(WAIT_MS)
    page = context.new_page()
    asked: list[str] = []
    wrong: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("console", lambda message: wrong.append(message.text) if message.type == "error" else None)
    page.goto(path.as_uri())
    page.locator(".space-list").wait_for()
    assert [url for url in asked if not url.startswith("data:")] == [path.as_uri()]
    assert wrong == []
    return page


def time_of(page: Any) -> float:
    """Returns the time of the slider in s, to a thousandth of its range."""
    return float(page.locator("input[type=range]").input_value())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("scheme", "width"), [("light", 1200), ("dark", 400)])
def test_a_player_has_no_barrier_and_fits_the_screen(
    browser: Any, pages: dict[str, Path], kind: str, scheme: str, width: int
) -> None:
    page = opened(browser, pages[kind], scheme=scheme, width=width)
    assert page.evaluate("document.documentElement.scrollWidth") <= width, "the page is wider than the screen"
    assert page.evaluate("document.documentElement.dataset.theme") == scheme
    assert page.locator("ul.legend li").count() >= 5
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
    found = axe.Axe().run(page, options={"runOnly": RULES})
    assert found.violations_count == 0, found.generate_report()
    page.context.close()


@pytest.mark.parametrize("kind", KINDS)
def test_keys_and_buttons_step_seek_and_play(browser: Any, pages: dict[str, Path], kind: str) -> None:
    page = opened(browser, pages[kind], width=480)
    page.keyboard.press("Home")
    step = page.get_by_role("button", name="Step", exact=True)
    step.click()
    after = time_of(page)
    assert after > 0
    page.keyboard.press(".")
    assert time_of(page) == pytest.approx(2 * after, abs=0.05)
    page.get_by_role("button", name="Step back").click()
    assert time_of(page) == pytest.approx(after, abs=0.05)
    page.keyboard.press("End")
    end = float(page.locator("input[type=range]").get_attribute("max"))
    assert time_of(page) == pytest.approx(end, abs=0.05)
    page.keyboard.press("Home")
    assert time_of(page) == 0
    page.keyboard.press(">")
    assert page.get_by_label("Speed").input_value() in ("5", "20")
    page.get_by_label("Speed").select_option("100")
    page.locator(".stage").focus()
    page.keyboard.press(" ")
    # The policy of the page allows no script of a test that waits inside it.
    wait = sync_api.expect
    wait(page.locator("input[type=range]")).not_to_have_value("0", timeout=WAIT_MS)
    wait(page.locator(".play")).to_contain_text("Play", timeout=WAIT_MS)
    assert time_of(page) == pytest.approx(end, abs=0.05)
    page.context.close()


def test_a_globe_has_coast_names_paths_and_charts_with_units(browser: Any, pages: dict[str, Path]) -> None:
    page = opened(browser, pages["globe"])
    assert page.locator("h1").text_content() == NAME
    names = {tag.text_content() for tag in page.locator(".stage .tag:visible").all()}
    assert names >= {"Dublin", "Munich"}
    assert "588 satellites" in page.locator(".space-list").text_content()
    assert "Dublin → oneweb-" in page.locator("td.path").text_content()
    alts = [chart.get_attribute("alt") for chart in page.locator(".chart img").all()]
    assert [alt.split(" over time")[0] for alt in alts] == [
        "round trip: SRTT; thin line: at the speed of light in ms",
        "goodput in Mbit/s",
        "cwnd in segments",
    ]
    page.keyboard.press("End")
    numbers = page.get_by_role("table", name="Values at the time that is shown").locator("td").all_text_contents()
    assert len(numbers) == 4
    assert all(re.fullmatch(r"[\d,.]+", number) for number in numbers)
    page.context.close()


def test_a_swarm_has_lengths_at_its_area_names_links_and_paths(browser: Any, pages: dict[str, Path]) -> None:
    page = opened(browser, pages["swarm"])
    page.keyboard.press("End")
    page.locator("td.path").first.wait_for()
    marks = {mark.text_content() for mark in page.locator(".stage .tag.axis:visible").all()}
    assert len(marks) >= 3
    assert all(re.fullmatch(r"-?\d+ m (east|north|up)", mark) for mark in marks)
    # Other names may vanish while the scene comes to rest.
    page.locator(".stage .tag", has_text=re.compile("^gateway$")).wait_for()
    legend = page.locator("ul.legend").inner_text()
    assert {"source of a flow", "destination", "relay", "other node"} <= set(legend.splitlines())
    assert re.search(r"ground: squares of [\d.]+ m", legend)
    page.get_by_label("Names").uncheck()
    page.locator(".stage .tag:not(.axis):visible").first.wait_for(state="detached")
    assert re.search(
        r"21 nodes with radios, \d+ pairs of them can exchange data", page.locator(".space-list").inner_text()
    )
    page.get_by_label("Radio links").uncheck()
    assert page.get_by_label("Radio links").is_checked() is False
    page.context.close()


def test_a_frame_in_a_longer_page_is_as_high_as_its_player(browser: Any, pages: dict[str, Path]) -> None:
    context = browser.new_context(viewport={"width": 1200, "height": 900})
    context.set_default_timeout(WAIT_MS)
    page = context.new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(pages["report"].as_uri())
    inside = page.frame_locator("iframe.player")
    inside.locator(".space-list").wait_for()
    assert [url for url in asked if not url.startswith(("data:", "about:"))] == [pages["report"].as_uri()]
    assert inside.locator("h1").count() == 0
    page.wait_for_function(
        "(() => { const one = document.querySelector('iframe');"
        " return Math.abs(one.clientHeight - one.contentDocument.getElementById('player').scrollHeight) < 2; })()"
    )
    context.close()


def test_without_three_dimensions_a_player_reports_it_and_keeps_its_charts(
    launch: Callable[[list[str]], Any], pages: dict[str, Path]
) -> None:
    flat = launch(["--disable-3d-apis"])
    page = flat.new_page()
    page.set_default_timeout(WAIT_MS)
    page.goto(pages["globe"].as_uri())
    page.get_by_role("alert").wait_for()
    assert "The globe needs WebGL 2" in page.get_by_role("alert").text_content()
    assert page.locator(".chart img").count() == 3
    flat.close()
