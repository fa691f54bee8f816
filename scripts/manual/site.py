"""The site: a static directory with a landing page, the studio and the documentation. `python -m manual.site DIRECTORY`
assembles it; the documentation was built with `lightlag_studio=../studio` into DIRECTORY/docs.

Every address in it is relative, so it works at any path of a server.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from manual import live

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ROOT / "site"


def assemble(site: Path, page: Path = live.PAGE) -> None:
    """Adds the landing page and the studio to a directory with the documentation.

    Raises
    ------
    FileNotFoundError
        If the documentation or the page of the studio is missing.
    """
    if not (site / "docs" / "index.html").is_file():
        raise FileNotFoundError(f"{site / 'docs'} has no documentation; make site builds it")
    live.copy_studio(page, site / "studio", "../docs/index.html")
    shutil.copytree(SOURCES, site, dirs_exist_ok=True)
    shutil.copy(ROOT / "docs" / "_static" / "favicon.svg", site / "icon.svg")
    shutil.copy(ROOT / "docs" / "images" / "studio.png", site)


if __name__ == "__main__":
    assemble(Path(sys.argv[1]))
