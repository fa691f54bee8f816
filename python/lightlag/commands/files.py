"""Files of something of one's own, written beside each other."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from lightlag._text import printable

SCHEMA = "lightlag.schema.json"
"""The schema beside a scenario, by which editors complete and check it."""
DIRECTIVE = f"#:schema ./{SCHEMA}"
"""The line by which a scenario names it (taplo, Even Better TOML)."""


def put(files: Mapping[Path, str], *, force: bool) -> list[Path]:
    """Writes scenarios and what they name, and the schema if it is not there; gives the paths.

    Raises
    ------
    FileExistsError
        If one is there already and may not be replaced.
    """
    from lightlag import _engine
    from lightlag._writing import new_file

    for path in files:
        if path.exists() and not force:
            raise FileExistsError(f"{printable(path)}: exists already; replace it with --force, or name another --out")
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        with new_file(path) as partial:
            named = f"{DIRECTIVE}\n{text}" if path.suffix == ".toml" else text
            partial.write_text(named, encoding="utf-8", newline="\n")
    written = list(files)
    for folder in {path.parent for path in files if path.suffix == ".toml"}:
        schema = folder / SCHEMA
        if not schema.exists():
            with new_file(schema) as partial:
                partial.write_text(_engine.schema() + "\n", encoding="utf-8")
            written.append(schema)
    return written
