"""Every Python reader of foreign files has a fuzz target, and inputs found by fuzzing stay fixed."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import cast

import pytest

import lightlag as ll
from lightlag.errors import InputError
from lightlag.imports import KINDS

FUZZ = Path(__file__).parents[1] / "fuzz"
Target = Callable[[bytes, Path], None]


@pytest.fixture
def targets(monkeypatch: pytest.MonkeyPatch) -> Mapping[str, Target]:
    monkeypatch.syspath_prepend(str(FUZZ / "python"))
    try:
        return cast("Mapping[str, Target]", importlib.import_module("targets").TARGETS)
    finally:
        for name in ("targets", "importers", "readers", "files"):
            sys.modules.pop(name, None)


def test_every_importer_has_a_target_with_seeds(targets: Mapping[str, Target]) -> None:
    assert {f"import_{module}" for module in KINDS.values()} < set(targets)
    assert [name for name in targets if not list((FUZZ / "seeds" / name).iterdir())] == []


def test_every_seed_of_a_target_in_python_is_read_or_rejected(targets: Mapping[str, Target], tmp_path: Path) -> None:
    for name, exercise in targets.items():
        folder = tmp_path / name
        folder.mkdir()
        for seed in sorted((FUZZ / "seeds" / name).iterdir()):
            try:
                exercise(seed.read_bytes(), folder)
            except BaseException as error:
                error.add_note(f"input {seed}")
                raise


def test_a_damaged_table_on_which_polars_panics_is_rejected(targets: Mapping[str, Target], tmp_path: Path) -> None:
    targets["read_run"]((FUZZ / "seeds" / "read_run" / "panic-of-polars").read_bytes(), tmp_path)
    with pytest.raises(InputError, match=r"links\.parquet: cannot be read: its contents are damaged"):
        repr(ll.load(tmp_path))
