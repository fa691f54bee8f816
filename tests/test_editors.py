"""The schema as editors read it: Even Better TOML checks with taplo; VS Code supports JSON Schema."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from lightlag import _engine
from lightlag.commands.files import put
from lightlag.presets import PRESETS
from lightlag.words.schema import DIRECTIVE, SCHEMA

SCENARIOS = sorted((Path(__file__).parents[1] / "scenarios").glob("*.toml"))
TAPLO = shutil.which("taplo", path=str(Path(sys.executable).parent)) or shutil.which("taplo")


def schema() -> dict[str, Any]:
    """The schema of a scenario."""
    found: dict[str, Any] = json.loads(_engine.schema())
    return found


def test_the_schema_is_one() -> None:
    kind = jsonschema.validators.validator_for(schema())
    assert kind is jsonschema.Draft202012Validator
    kind.check_schema(schema())
    assert schema()["$id"].startswith("urn:")


@pytest.mark.parametrize(
    "draft", [jsonschema.Draft202012Validator, jsonschema.Draft7Validator], ids=["2020-12", "draft-07"]
)
def test_scenarios_obey_it_also_in_the_draft_that_vs_code_supports_best(draft: Any) -> None:
    check = draft(schema())
    for path in SCENARIOS:
        errors = [error.message for error in check.iter_errors(tomllib.loads(path.read_text("utf-8")))]
        assert errors == [], path.name
    for name, preset in PRESETS.items():
        assert list(check.iter_errors(preset().to_dict())) == [], name
    wrong = tomllib.loads(SCENARIOS[0].read_text("utf-8")) | {"durration": "1 s"}
    assert list(check.iter_errors(wrong))


@pytest.mark.skipif(TAPLO is None, reason="no taplo")
def test_taplo_finds_the_schema_by_the_line_and_checks_by_it(tmp_path: Path) -> None:
    text = (Path(__file__).parents[1] / "scenarios" / "geo.toml").read_text("utf-8")
    put({tmp_path / "right.toml": text, tmp_path / "wrong.toml": text.replace("delay ", "dealy ")}, force=False)
    assert (tmp_path / "right.toml").read_text("utf-8").startswith(f"{DIRECTIVE}\n")
    assert json.loads((tmp_path / SCHEMA).read_text("utf-8")) == schema()

    def lint(name: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([str(TAPLO), "lint", name], cwd=tmp_path, capture_output=True, text=True, check=False)

    assert lint("right.toml").returncode == 0, lint("right.toml").stderr
    found = lint("wrong.toml")
    assert found.returncode != 0
    assert '"delay" is a required property' in found.stderr
