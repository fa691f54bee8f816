"""Fuzzes a target in Python: ``python run.py TARGET [OPTION OF LIBFUZZER]... [FOLDER]...``."""

from __future__ import annotations

import shlex
import sys
import tempfile
from pathlib import Path

import atheris

from mutation import mutated

INSTRUMENTED = (
    "captures",
    "comparison",
    "imports",
    "outcomes",
    "records",
    "results",
    "studio.messages",
    "study",
)
"""Modules of lightlag whose coverage guides the fuzzer."""

with atheris.instrument_imports(include=[f"lightlag.{name}" for name in INSTRUMENTED], enable_loader_override=False):
    from targets import TARGETS


def _mutate(data: bytes, max_size: int, seed: int) -> bytes:
    """Returns a mutated input: for odd seeds the text is mutated, otherwise libFuzzer mutates the bytes."""
    return mutated(data, max_size, seed) if seed % 2 else bytes(atheris.Mutate(data, max_size))


def main() -> None:
    """Runs libFuzzer on the target that the first argument names."""
    target = sys.argv[1] if len(sys.argv) > 1 else ""
    if target not in TARGETS:
        sys.exit(f"no target {target!r}; there are {' '.join(TARGETS)}")
    # Files are written and read in every execution.
    memory = Path("/dev/shm")
    tempfile.tempdir = str(memory) if memory.is_dir() else None
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        # libFuzzer starts itself again, through a shell, to merge inputs.
        command = shlex.join([sys.executable, sys.argv[0], target])
        arguments = [command, *sys.argv[2:]]
        atheris.Setup(arguments, lambda data: TARGETS[target](data, place), custom_mutator=_mutate)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
