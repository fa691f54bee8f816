"""The server of the studio in a browser: its own page may send requests, pages of other sites may not."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

import lightlag as ll
from conftest import pair
from studio import Server
from studio import folder as folder
from studio import page as page
from studio import server as server

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is missing: pip install lightlag[dev]")

pytestmark = pytest.mark.long

ASK = """async ([path, token]) => {
    const answer = await fetch(path, { headers: { Authorization: `Bearer ${token}` } });
    return answer.json();
}"""
SOCKET = """([address, token]) => new Promise((resolve) => {
    const socket = new WebSocket(address);
    socket.onopen = () => socket.send(JSON.stringify({ token }));
    socket.onmessage = (event) => resolve(event.data);
    socket.onclose = (event) => resolve(event.code);
})"""
FRAME = """async ([place, token]) => {
    const answer = await fetch("/api/report", {
        method: "POST", headers: { Authorization: `Bearer ${token}` }, body: JSON.stringify({ place }),
    });
    const frame = document.createElement("iframe");
    const loaded = new Promise((resolve) => { frame.onload = resolve; });
    frame.src = (await answer.json()).address;
    document.body.append(frame);
    await loaded;
}"""


@pytest.fixture
def tab() -> Iterator[Any]:
    """A page of a browser."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        missing = "chromium is missing: apt-get install chromium"
        if os.environ.get("CI"):
            pytest.fail(missing)
        pytest.skip(missing)
    with sync_api.sync_playwright() as play:
        browser = play.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-dev-shm-usage"])
        yield browser.new_page()
        browser.close()


@pytest.fixture
def other() -> Iterator[str]:
    """The address of another site."""

    class Site(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("content-type", "text/html")
            self.end_headers()
            self.wfile.write(b"<!doctype html><title>another</title>")

        def log_message(self, format: str, *args: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Site) as site:
        threading.Thread(target=site.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{site.server_port}/"
        site.shutdown()


def test_the_page_requests_and_shows_a_report(server: Server, folder: Path, tab: Any) -> None:
    ll.run(pair(), duration="5 s").save(folder / "one")
    tab.goto(f"http://127.0.0.1:{server.port}/#token={server.token}")
    assert tab.evaluate(ASK, ["/api/about", server.token])["version"] == ll.__version__
    assert "error" in tab.evaluate(ASK, ["/api/about", "wrong"])
    socket = f"ws://127.0.0.1:{server.port}/tasks"
    assert tab.evaluate(SOCKET, [socket, server.token]) == '{"event":"welcome"}'
    assert tab.evaluate(SOCKET, [socket, "wrong"]) == 4401
    tab.evaluate(FRAME, ["0/one", server.token])
    report = tab.frames[-1]
    assert report.locator("svg").count() > 0
    assert report.evaluate("self.origin") == "null"
    # Its scripts reach nothing of the server, with the token or without.
    asked = "(token) => fetch('/api/about', { headers: { Authorization: `Bearer ${token}` } }).then(() => 1, () => 0)"
    assert report.evaluate(asked, server.token) == 0


def test_the_page_runs_no_inline_script(server: Server, tab: Any) -> None:
    tab.goto(f"http://127.0.0.1:{server.port}/")
    tab.evaluate("""() => {
        const script = document.createElement("script");
        script.textContent = "window.ran = true";
        document.head.append(script);
    }""")
    assert tab.evaluate("window.ran") is None


def test_another_site_reaches_nothing_even_with_the_token(server: Server, folder: Path, tab: Any, other: str) -> None:
    ll.run(pair(), duration="1 s").save(folder / "one")
    tab.goto(other)
    for host in (f"127.0.0.1:{server.port}", f"localhost:{server.port}"):
        asked = f"({ASK})(['http://{host}/api/about', '{server.token}']).then(() => 1, () => 0)"
        assert tab.evaluate(asked) == 0
        # A request that needs no preflight.
        plain = "{ method: 'POST', mode: 'no-cors', body: '{}' }"
        sent = f"fetch('http://{host}/api/report', {plain}).then(() => 1, () => 0)"
        assert tab.evaluate(sent) == 0
        for path in ("/tasks", "/door"):
            assert tab.evaluate(SOCKET, [f"ws://{host}{path}", server.token]) == 1006


def test_the_file_for_the_browser_leads_to_the_page(
    tab: Any, folder: Path, page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told, browser = tmp_path / "told", tmp_path / "browser"
    os.mkfifo(told)
    browser.write_text(f'#!/bin/sh\necho "$1" > {told}\n')
    browser.chmod(0o755)
    monkeypatch.setenv("BROWSER", f"{browser} %s")
    server = Server(folder, page, opens=True)
    try:
        tab.goto(told.read_text().strip())
        tab.wait_for_url(f"http://127.0.0.1:{server.port}/#token={server.token}")
        assert tab.title() == "lightlag"
    finally:
        server.close()
