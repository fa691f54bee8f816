"""Checks that the studio is complete: the packages of its server, and the built page."""

from __future__ import annotations

import importlib.util
import shlex
from collections.abc import Sequence
from pathlib import Path

__all__ = ["PACKAGES", "missing"]

PACKAGES = ("starlette", "uvicorn", "websockets")
"""The packages of the server. ``pip install lightlag`` brings them."""

_PAGE = Path(__file__).parent / "page"
_SOURCES = Path(__file__).parents[3]


def missing(page: Path = _PAGE, sources: Path = _SOURCES, packages: Sequence[str] = PACKAGES) -> str | None:
    """Returns an error message that names everything missing and one command that adds it; None if nothing is.

    Parameters
    ----------
    page
        Directory of the built page.
    sources
        Root of the source tree, if the package is in one.
    packages
        The packages of the server.
    """
    absent = [name for name in packages if not _is_installed(name)]
    has_page = (page / "index.html").is_file()
    if has_page and not absent:
        return None
    needs = [*absent, *([] if has_page else ["its page, which is not built"])]
    listed = " and ".join([", ".join(needs[:-1]), needs[-1]] if len(needs) > 1 else needs)
    return f"the studio needs {listed}; {_fix(absent, has_page, sources)}"


def _is_installed(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except ValueError:  # another module has its name
        return False


def _fix(absent: list[str], has_page: bool, sources: Path) -> str:
    commands = [f"pip install {' '.join(absent)}"] if absent else []
    if not has_page:
        if not ((sources / "Makefile").is_file() and (sources / "crates").is_dir()):
            return "this package was built without the page; install a wheel of make wheel: pip install lightlag-*.whl"
        here = "" if sources == Path.cwd() else f"-C {shlex.quote(str(sources))} "
        commands.append(f"make {here}page")
    return f"add what is missing with: {' && '.join(commands)}"
