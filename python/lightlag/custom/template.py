"""A new algorithm as a directory of files, ready to run: ``lightlag new congestion``."""

from __future__ import annotations

import keyword
from importlib import resources
from pathlib import Path

from lightlag import _engine
from lightlag.errors import InputError
from lightlag.files.writing import new_folder
from lightlag.text.terminal import printable

LANGUAGES = ("python", "numba", "rust", "c")

_BUILD = {
    "python": "",
    "numba": "",
    "rust": 'subprocess.run(["cargo", "build", "--release", "--quiet"], cwd=HERE, check=True)',
    "c": 'subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", "lib{name}.so", "{name}.c"], cwd=HERE, check=True)',
}
_CHOICE = {
    "python": '{"python": f"{HERE}/{name}.py:{Class}"}',
    "numba": '{"python": f"{HERE}/{name}.py:{Class}"}',
    "rust": '{"plugin": f"{HERE}/target/release/lib{name}.so"}',
    "c": '{"plugin": f"{HERE}/lib{name}.so"}',
}


def write(name: str, language: str, directory: Path, *, force: bool) -> list[str]:
    """Writes a new algorithm to a directory and returns the names of its files.

    Raises
    ------
    InputError
        If the name or the language is not valid.
    """
    if language not in LANGUAGES:
        raise InputError(f"--language: {printable(language)!r:.40} is not one of {', '.join(LANGUAGES)}")
    if not (name.isascii() and name.isidentifier() and name.islower()) or keyword.iskeyword(name):
        raise InputError(
            f"{printable(name)!r:.40} is not a valid name of an algorithm; use lower-case letters, digits and _"
        )
    if (taken := _engine.congestion_name(name)) is not None:
        raise InputError(f'"{name}" is the name of an algorithm of lightlag, {taken}; choose another')
    files = {path: _filled(text, name, language) for path, text in _files(name, language).items()}
    with new_folder(directory, force=force) as partial:
        for path, text in files.items():
            (partial / path).parent.mkdir(parents=True, exist_ok=True)
            (partial / path).write_text(text, encoding="utf-8")
    return sorted(files)


def _files(name: str, language: str) -> dict[str, str]:
    test = {f"test_{name}.py": _template("test.py")}
    interface = _engine.plugin_sources()
    if language == "rust":
        crate = {f"lightlag-plugin/{path}": text for path, text in interface.items() if path.endswith(".rs")}
        own = {"Cargo.toml": _template("Cargo.toml"), "src/lib.rs": _template("lib.rs")}
        return test | own | crate | {"lightlag-plugin/Cargo.toml": _template("plugin-Cargo.toml")}
    if language == "c":
        return test | {f"{name}.c": _template("lib.c"), "lightlag.h": interface["include/lightlag.h"]}
    return test | {f"{name}.py": _template("algorithm.py")}


def _template(name: str) -> str:
    return resources.files("lightlag.custom").joinpath("templates", f"{name}.txt").read_text("utf-8")


def _filled(text: str, name: str, language: str) -> str:
    """Returns a template with its placeholders filled in."""
    words = {
        "build": _BUILD[language],
        "choice": _CHOICE[language],
        "decorator": "@ll.compiled\n" if language == "numba" else "",
        "version": _engine.__version__,
        "Class": "".join(part.capitalize() for part in name.split("_")),
        "name": name,
    }
    for word, value in words.items():
        text = text.replace(f"{{{word}}}", value)
    # Only a plug-in is built.
    return text if _BUILD[language] else text.replace("import subprocess\n", "").replace("\n\nALGORITHM", "\nALGORITHM")
