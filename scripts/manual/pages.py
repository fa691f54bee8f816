"""Pages that are written before each build of the site; git ignores them."""

from __future__ import annotations

import shutil
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LICENCE_LINK = "](LICENSE)"


def write(docs: Path) -> None:
    """Writes the generated pages into the folder of the documentation."""
    for source, target in ((ROOT / "CHANGELOG.md", "changelog.md"), (ROOT / "CONTRIBUTING.md", "contributing.md")):
        shutil.copy(source, docs / target)
