"""The gallery's scenarios as frames that run in the page: `python -m manual.live` prints their addresses as JSON."""

from __future__ import annotations

import base64
import html
import itertools
import json
import shlex
import shutil
import zlib
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from sphinx.application import Sphinx
from sphinx.config import Config

from lightlag import course
from lightlag.course.contents import scenario_text
from lightlag.presets import PRESETS
from manual import gallery

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "python" / "lightlag" / "studio" / "page"
_HEIGHT = 680
STUDIO = "## In the studio\n"
"""Heading of a lab above the links that open its scenarios."""


def address(question: gallery.Question) -> str:
    """The address of a question's first scenario, relative to the directory of the page."""
    words = shlex.split(question.commands[0])
    scenario = question.live or words[2]
    sets = [value for option, value in itertools.pairwise(words) if option == "-s"]
    query = urlencode({"sets": "; ".join(sets)} if sets else {})
    if (ROOT / "scenarios" / f"{scenario}.toml").exists():
        return f"embed.html?{urlencode({'scenario': scenario})}{'&' if query else ''}{query}"
    file = gallery.GALLERY / "scenarios" / scenario
    text = file.read_text("utf-8") if file.exists() else PRESETS[scenario]().to_toml()
    return f"embed.html{'?' if query else ''}{query}{fragment(text)}"


def fragment(text: str) -> str:
    """A scenario in the form of the page's links (studio/src/share/link.ts)."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed = packer.compress(json.dumps({"toml": text}).encode()) + packer.flush()
    return "#a." + base64.urlsafe_b64encode(packed).decode().rstrip("=")


def frame(question: gallery.Question, page: str) -> str:
    """Returns the end of a page of the gallery: a frame with its scenario. `page` is the path of the studio's page,
    relative to the page of the gallery. Opened from a file, the frame explains that it needs a web server.
    """
    source = html.escape(f"{page}/{address(question)}", quote=True)
    return f"""
## Run it here

```{{raw}} html
<iframe class="live" src="{source}" title="{html.escape(question.title)}, live" loading="lazy"
  height="{_HEIGHT}"></iframe>
<p class="live">The simulator is in the page: nothing is sent anywhere. A browser runs it only if these files come from
a web server, even a local one (<code>python3 -m http.server</code>).</p>
```
"""


def openers(lab: course.Lab, page: str) -> str:
    """Returns the links that open the scenarios of a lab in the studio, whose page is at a relative path."""
    links = [
        f'<a href="{page}/index.html?view=run{html.escape(fragment(scenario_text(name)))}">{name}</a>'
        for name in lab.scenarios
    ]
    return f"""
```{{raw}} html
<p class="live">Open in the studio, if these files come from a web server: {", ".join(links)}</p>
```
"""


def configure(app: Sphinx) -> None:
    """Adds the studio to a build of the documentation. The setting `lightlag_studio` is its path relative to the
    documentation: by default a directory of the documentation, into which it is copied.
    """
    app.add_config_value("lightlag_studio", "studio", "html", str)
    app.connect("config-inited", _link)
    app.connect("source-read", _add)
    app.connect("build-finished", _bring)


def _is_published() -> bool:
    return (PAGE / "embed.html").exists()


def _is_part(app: Sphinx) -> bool:
    """Whether the studio is in the directory of the documentation."""
    return not str(app.config.lightlag_studio).startswith("..")


def _link(app: Sphinx, config: Config) -> None:
    """Links every page to the studio, if it was built. In a site, pages also register the worker that stores them."""
    config.html_context["studio"] = str(config.lightlag_studio) if _is_published() else None
    if not _is_part(app):
        attributes: dict[str, Any] = {"data-worker": "offline.js"}
        app.add_js_file("../../register.js", loading_method="defer", **attributes)


def _add(app: Sphinx, name: str, source: list[str]) -> None:
    """Adds the frame to a page of the gallery, and a link to the home page, if the page of the simulator was built."""
    if not _is_published():
        return
    if name == "index":
        link = f'<a href="{app.config.lightlag_studio}/index.html">Open the studio</a>'
        block = f"```{{raw}} html\n<p>{link}: the complete simulator, in this browser.</p>\n```"
        source[0] = source[0].replace("\n\n", f"\n\n{block}\n\n", 1)
    folder, _, page = name.rpartition("/")
    if folder == "gallery" and page != "index":
        (question,) = (question for question in gallery.questions() if question.name == page)
        source[0] += frame(question, f"../{app.config.lightlag_studio}")
    if folder == "course" and page in course.LABS:
        source[0] = source[0].replace(STUDIO, STUDIO + openers(course.lab(page), f"../{app.config.lightlag_studio}"), 1)


def _bring(app: Sphinx, error: Exception | None) -> None:
    """Copies the studio next to the documentation, and lets its help link to the documentation."""
    if error is None and _is_published() and _is_part(app):
        copy_studio(PAGE, Path(app.outdir) / app.config.lightlag_studio, "../index.html")


def copy_studio(page: Path, target: Path, documentation: str) -> None:
    """Copies the built page; its help links to the documentation at the given address."""
    shutil.copytree(page, target, dirs_exist_ok=True)
    index = target / "index.html"
    index.write_text(documented(index.read_text("utf-8"), documentation), "utf-8")


def documented(page: str, documentation: str) -> str:
    """Returns the studio's page with the address of the documentation.

    Raises
    ------
    ValueError
        If the page has no link to replace.
    """
    empty = '<meta name="lightlag-documentation" content="" />'
    if empty not in page:
        raise ValueError(f"the page of the studio lacks {empty}")
    return page.replace(empty, empty.replace('""', f'"{documentation}"'))


def main() -> None:
    print(json.dumps({question.name: address(question) for question in gallery.questions()}, indent=1))


if __name__ == "__main__":
    main()
