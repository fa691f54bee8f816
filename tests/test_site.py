"""The site of ``make site``: its links, and how it works below a path of a server, without a network, from files."""

from __future__ import annotations

import os
import re
import shutil
import threading
from collections.abc import Iterator
from functools import partial
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest

SITE = Path(__file__).parents[1] / "dist" / "site"

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not (SITE / "index.html").exists(), reason="there is no site; build it with make site"),
]

PART = "some/path"
"""Path of the site on the server."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, list[str]]]:
    """The address of the site, and the paths that were not found there."""
    root = tmp_path_factory.mktemp("server")
    (root / PART).parent.mkdir()
    (root / PART).symlink_to(SITE)
    failed: list[str] = []

    class Static(SimpleHTTPRequestHandler):
        def log_message(self, format: str, *args: Any) -> None:
            pass

        def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
            failed.append(f"{code} {self.path}")
            super().send_error(code, message, explain)

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Static, directory=str(root))) as http:
        threading.Thread(target=http.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{http.server_port}/{PART}/", failed
        http.shutdown()


@pytest.fixture
def context() -> Iterator[Any]:
    """A browser with an empty profile."""
    api = pytest.importorskip("playwright.sync_api", reason="playwright is missing: pip install lightlag[dev]")
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        missing = "chromium is missing: apt-get install chromium"
        if os.environ.get("CI"):
            pytest.fail(missing)
        pytest.skip(missing)
    with api.sync_playwright() as play:
        browser = play.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-dev-shm-usage"])
        context = browser.new_context()
        # A guard against hanging: how long a state takes depends on what else the machine does.
        context.set_default_timeout(120_000)
        yield context
        browser.close()


class Links(HTMLParser):
    """Collects the addresses in a page."""

    def __init__(self) -> None:
        super().__init__()
        self.found: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found |= {value for name, value in attrs if name in ("href", "src") and value}


def test_every_link_is_relative_and_leads_to_a_file() -> None:
    broken, count = [], 0
    for page in sorted(SITE.rglob("*.html")):
        if "_static" in page.parts:  # templates of the theme
            continue
        links = Links()
        links.feed(page.read_text("utf-8"))
        for link in links.found:
            parts = urlsplit(link)
            if parts.scheme or not parts.path:
                continue
            count += 1
            target = page.parent / unquote(parts.path)
            target = target / "index.html" if target.is_dir() else target
            if parts.path.startswith("/") or parts.netloc or not target.exists():
                broken.append(f"{page.relative_to(SITE)}: {link}")
    assert broken == []
    assert count > 1000


def test_landing_page_studio_and_documentation_link_to_each_other(server: tuple[str, list[str]], context: Any) -> None:
    address, failed = server
    page = context.new_page()
    page.goto(address)
    page.get_by_role("link", name="Open the studio").click()
    page.locator(".start .headline").first.wait_for()
    assert page.url.startswith(f"{address}studio/index.html")
    documentation = page.evaluate("document.querySelector('meta[name=lightlag-documentation]').content")
    page.goto(f"{address}studio/{documentation}")
    assert page.url == f"{address}docs/index.html"
    page.get_by_role("link", name="Open the studio").first.click()
    page.locator(".start .headline").first.wait_for()
    page.goto(f"{address}docs/gallery/initial-window.html")
    assert page.locator("a.studio-link").first.get_attribute("href") == "../../studio/index.html"
    frame = page.frame_locator("iframe.live")
    frame.get_by_role("button", name="Run").click()
    frame.get_by_text(re.compile("[0-9a-f]{32}")).wait_for()
    assert failed == []


def test_visited_pages_work_without_a_network(server: tuple[str, list[str]], context: Any) -> None:
    address, _ = server
    page = context.new_page()
    stored = """async () => {
        const { active, installing, waiting } = await navigator.serviceWorker.ready;
        const worker = active ?? waiting ?? installing;
        await new Promise((ready) => {
            const look = () => worker.state === "activated" && ready();
            worker.addEventListener("statechange", look);
            look();
        });
    }"""
    for path in ("", "studio/index.html"):
        page.goto(address + path)
        page.evaluate(stored)
    # It is stored when the worker is there already.
    page.goto(f"{address}docs/gallery/initial-window.html")
    page.frame_locator("iframe.live").get_by_role("button", name="Run").wait_for()
    context.set_offline(True)
    page.reload()
    assert page.locator("h1").first.inner_text().startswith("The initial window")
    page.goto(address)
    page.get_by_role("link", name="Open the studio").click()
    page.locator(".start .headline").first.wait_for()


def test_pages_opened_as_files_work_or_explain_what_to_do(context: Any) -> None:
    page = context.new_page()
    page.goto((SITE / "index.html").as_uri())
    page.get_by_role("link", name="Gallery", exact=True).first.click()
    page.get_by_role("link", name="The initial window").first.click()
    frame = page.frame_locator("iframe.live")
    frame.get_by_role("heading", name="The simulator needs a web server").wait_for()
    assert str(SITE) in frame.locator("pre").first.inner_text()
    page.get_by_role("link", name="Open the studio").first.click()
    page.get_by_role("heading", name="The simulator needs a web server").wait_for()
    assert page.locator("pre").last.inner_text() == "http://127.0.0.1:8000/studio/index.html"
