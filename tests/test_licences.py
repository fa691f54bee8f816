"""The packages that lightlag needs have licences compatible with its own, as in `deny.toml` for the Rust crates."""

from __future__ import annotations

import re
import tomllib
from importlib import metadata
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[1]

# Permissive licences, by SPDX and by the names that older packages give.
PERMISSIVE = {
    *(
        "0BSD",
        "Apache-2.0",
        "Apache-2.0 WITH LLVM-exception",
        "BSD-2-Clause",
        "BSD-3-Clause",
        "BSL-1.0",
        "CC0-1.0",
        "HPND",
        "ISC",
        "MIT",
        "MIT-0",
        "MIT-CMU",
    ),
    *("PSF-2.0", "Python-2.0", "Unlicense", "Zlib"),
    *(
        "Apache 2.0",
        "Apache Software License",
        "BSD",
        "BSD 3-Clause",
        "BSD License",
        "ISC License (ISCL)",
        "MIT License",
    ),
    "Python Software Foundation License",
}
# Tools that are only used may also have a licence that covers their own files.
OF_TOOLS = PERMISSIVE | {"Public domain", "MPL-2.0", "Mozilla Public License 2.0 (MPL 2.0)"}

# Licences of files that a package names, but does not install.
OF_OTHER_FILES = {"docutils": {"GNU General Public License (GPL)"}}  # a mode for Emacs, in its source alone


# What metadata leave open, as the files in the packages say: axe itself is under the MPL, what drives it under MIT.
BY_FILE = {"atheris": {"Apache-2.0"}, "axe-playwright-python": {"MIT", "MPL-2.0"}}


def needed(names: list[str]) -> dict[str, metadata.Distribution]:
    """Return the installed distributions of these names, with all that they need."""
    found: dict[str, metadata.Distribution] = {}
    waiting = list(names)
    while waiting:
        requirement = waiting.pop()
        name = re.sub(r"[-_.]+", "-", re.split(r"[^\w.-]", requirement, maxsplit=1)[0]).lower()
        if name in found or "extra ==" in requirement:
            continue
        try:
            found[name] = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            continue  # not needed on this system
        waiting += found[name].requires or []
    return found


def parts(expression: str) -> set[str]:
    """Return the licences that an SPDX expression names."""
    return set(re.split(r" (?:AND|OR) ", expression.replace("(", "").replace(")", "")))


def licences(distribution: metadata.Distribution) -> set[str]:
    """Return the licences of a distribution: by its SPDX expression, its classifiers or a short name."""
    about = distribution.metadata
    if distribution.name in BY_FILE:
        return BY_FILE[distribution.name]
    if expressions := about.get_all("License-Expression"):
        return parts(expressions[0])
    classifiers = [name for name in about.get_all("Classifier") or [] if name.startswith("License :: OSI Approved")]
    if classifiers:
        return {name.rpartition(" :: ")[2] for name in classifiers}
    return parts((about.get_all("License") or ["none"])[0])


def project() -> dict[str, list[str]]:
    table = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]
    extras = table["optional-dependencies"]
    return {"needs": table["dependencies"], "tools": extras["dev"], "fuzzing": extras["fuzz"]}


@pytest.mark.parametrize(("kind", "allowed"), [("needs", PERMISSIVE), ("tools", OF_TOOLS), ("fuzzing", OF_TOOLS)])
def test_every_package_has_a_licence_that_suits_ours(kind: str, allowed: set[str]) -> None:
    if kind == "fuzzing":
        pytest.importorskip("atheris", reason="make fuzz installs it")
    packages = needed(project()[kind])
    assert len(packages) >= len(project()[kind])
    found = {name: licences(package) - OF_OTHER_FILES.get(name, set()) for name, package in packages.items()}
    refused = {name: names - allowed for name, names in found.items() if names - allowed}
    assert not refused, f"{refused} in {kind}: choose another package, or allow the licence here and say why"
