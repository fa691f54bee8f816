"""The files of other package systems have the versions and dependencies of this package."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
PACKAGING = ROOT / "packaging"
CONDA_NAMES = {"matplotlib": "matplotlib-base"}
"""Packages that have another name in conda-forge."""


def toml(name: str) -> dict[str, Any]:
    return tomllib.loads((ROOT / name).read_text("utf-8"))


def recipe() -> dict[str, Any]:
    yaml = pytest.importorskip("yaml")
    found: dict[str, Any] = yaml.safe_load((PACKAGING / "conda" / "recipe.yaml").read_text("utf-8"))
    return found


def instructions() -> list[tuple[str, str]]:
    """Returns the instructions of the Dockerfile, with their continuation lines joined."""
    text = (PACKAGING / "Dockerfile").read_text("utf-8")
    lines = "\n".join(line for line in text.splitlines() if not line.startswith("#")).replace("\\\n", " ").splitlines()
    return [(name, rest.strip()) for name, _, rest in (line.partition(" ") for line in lines if line.strip())]


def test_every_version_is_that_of_the_engine() -> None:
    version = toml("Cargo.toml")["workspace"]["package"]["version"]
    formula = (PACKAGING / "homebrew" / "lightlag.rb").read_text("utf-8")
    versions = {
        "papers/pyproject.toml": toml("papers/pyproject.toml")["project"]["version"],
        "packaging/conda/recipe.yaml": recipe()["context"]["version"],
        "packaging/homebrew/lightlag.rb": "".join(re.findall(r'^  version "(.*)"$', formula, re.MULTILINE)),
    }
    assert versions == dict.fromkeys(versions, version)


def test_the_conda_recipe_has_the_dependencies_of_the_package() -> None:
    project, build = toml("pyproject.toml")["project"], toml("pyproject.toml")["build-system"]
    needs = dict(map(split, project["dependencies"]))
    conda = dict(line.split() for line in recipe()["requirements"]["run"])
    assert conda.pop("python") == project["requires-python"]
    assert conda == {CONDA_NAMES.get(name, name): bounds for name, bounds in needs.items()}
    ((maturin, bounds),) = map(split, build["requires"])
    assert f"{maturin} {bounds}" in recipe()["requirements"]["host"]
    assert recipe()["about"]["summary"] == project["description"]
    assert (ROOT / recipe()["about"]["license_file"]).is_file()
    (script,) = project["scripts"].items()
    assert recipe()["build"]["python"]["entry_points"] == [" = ".join(script)]


def split(requirement: str) -> tuple[str, str]:
    found = re.fullmatch(r"([\w-]+)(.*)", requirement)
    assert found is not None
    return found[1], found[2]


def test_the_dockerfile_builds_with_our_compiler_and_runs_as_a_user() -> None:
    steps = instructions()
    assert {name for name, _ in steps} <= {"CMD", "COPY", "ENTRYPOINT", "EXPOSE", "FROM", "RUN", "USER", "WORKDIR"}
    build, run = (rest for name, rest in steps if name == "FROM")
    assert build == f"rust:{toml('rust-toolchain.toml')['toolchain']['channel']}-slim-bookworm AS build"
    assert run.startswith("python:3.")
    last = [rest for name, rest in steps if name == "USER"][-1]
    assert int(last) > 0
    assert ("ENTRYPOINT", '["lightlag"]') in steps
    command = dict(steps)["CMD"]
    assert f'"--port", "{dict(steps)["EXPOSE"]}"' in command
    for rest in (rest for name, rest in steps if name == "RUN"):
        shlex.split(rest)
        assert "rm -rf /var/lib/apt/lists/*" in rest or "apt-get" not in rest


def test_the_context_of_docker_has_what_make_needs() -> None:
    """Nothing that git tracks is left out of the context, but what was built is."""
    left_out = (ROOT / ".dockerignore").read_text("utf-8").split()
    assert {".git", ".venv", "target", "dist", "studio/node_modules", "**/*.so"} <= set(left_out)
    for name in ("Makefile", "Cargo.lock", "crates", "python", "studio", "scenarios", "papers", "scripts", "site"):
        assert (ROOT / name).exists()
        assert name not in left_out


@pytest.mark.skipif(shutil.which("ruby") is None, reason="ruby is missing: the formula is not parsed")
def test_the_formula_is_ruby() -> None:
    command = ["ruby", "-wc", str(PACKAGING / "homebrew" / "lightlag.rb")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "Syntax OK\n", "")


def test_the_formula_builds_with_a_python_that_we_support() -> None:
    formula = (PACKAGING / "homebrew" / "lightlag.rb").read_text("utf-8")
    (python,) = set(re.findall(r"python@(3\.\d+)", formula))
    assert tuple(map(int, python.split("."))) >= (3, 11)
    assert toml("pyproject.toml")["project"]["description"] in formula
