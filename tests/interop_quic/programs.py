"""The real stacks: aioquic in an environment of its own, and a program with quinn."""

from __future__ import annotations

import json
import shutil
import subprocess
import tomllib
import venv
from pathlib import Path

from interop_quic.cells import AIOQUIC
from interop_quic.lab import Programs

ROOT = Path(__file__).resolve().parents[2]
PEER = ROOT / "tools/quic-peer"


def quinn_version() -> str:
    """Returns the version of quinn that the program has."""
    dependencies = tomllib.loads((PEER / "Cargo.toml").read_text("utf-8"))["dependencies"]
    return str(dependencies["quinn"]["version"]).removeprefix("=")


class BuildError(Exception):
    """Raised if a stack cannot be installed or built."""


def prepared(directory: Path) -> Programs:
    """Installs aioquic and builds the program with quinn below ``directory``, unless they are there, and makes a
    certificate.

    Raises
    ------
    BuildError
        If pip or cargo fails.
    """
    python, quinn = _aioquic(directory / "venv"), _quinn(directory / "quic-peer")
    certificate = json.loads(_output([str(quinn), "certificate", str(directory)]))["bytes"]
    return Programs(quinn, python, directory, certificate)


def _aioquic(environment: Path) -> Path:
    """Returns the interpreter of an environment with aioquic."""
    python, mark = environment / "bin/python", environment / f"aioquic-{AIOQUIC}"
    if not mark.exists():
        print(f"installing aioquic {AIOQUIC} in {environment}", flush=True)
        shutil.rmtree(environment, ignore_errors=True)
        venv.create(environment, with_pip=True, symlinks=True)
        _output([str(python), "-m", "pip", "install", "--quiet", f"aioquic=={AIOQUIC}"])
        mark.touch()
    return python


def _quinn(target: Path) -> Path:
    """Returns the program with quinn."""
    print(f"building tools/quic-peer in {target}", flush=True)
    manifest = ["--manifest-path", str(PEER / "Cargo.toml"), "--target-dir", str(target)]
    _output(["cargo", "build", "--release", "--locked", "--quiet", *manifest])
    return target / "release/quic-peer"


def _output(arguments: list[str]) -> str:
    """Returns the output of a program."""
    try:
        done = subprocess.run(arguments, capture_output=True, text=True, check=False)
    except OSError as error:
        raise BuildError(f"{arguments[0]}: {error.strerror}") from None
    if done.returncode != 0:
        raise BuildError(f"{' '.join(arguments)}: {done.stderr.strip()[-600:]}")
    return done.stdout
