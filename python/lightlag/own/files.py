"""Classes in files."""

from __future__ import annotations

import importlib.util
import sys
import traceback
import types
from pathlib import Path

from lightlag import _engine
from lightlag.errors import InputError
from lightlag.files.input import read_bytes
from lightlag.own.algorithm import algorithm
from lightlag.own.code import digest
from lightlag.text.terminal import printable


def load(place: str) -> _engine.Algorithm:
    """The algorithm of a class in a file, ``FILE:CLASS``.

    Raises
    ------
    InputError
        If there is no such file or class, or if the file cannot be run.
    """
    path, colon, name = place.rpartition(":")
    if not colon or not name.isidentifier():
        raise InputError(f"{printable(place)}: is not a class in a file; write mine.py:Mine")
    file = Path(path)
    try:
        # The import below reads the file again, which a pipe does not allow.
        source = read_bytes(file, only_files=True)
    except OSError as error:
        raise InputError(f"{printable(path)}: cannot be read: {error.strerror or error}") from None
    code = digest(source)
    module = _module(file, code)
    cls = getattr(module, name, None)
    if cls is None:
        raise InputError(f"{printable(path)}: has no class {name}; write class {name}(lightlag.CongestionControl), say")
    return algorithm(cls, file=place, code=code)


def _module(file: Path, code: str) -> types.ModuleType:
    """The module of a file, which is run once for each content. What lies beside it can be imported."""
    name = f"lightlag_own_{digest(str(file.resolve()).encode())[:8]}_{code[:16]}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise InputError(f"{printable(file)}: is no file of Python; its name ends with .py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    folder = str(file.resolve().parent)
    sys.path.append(folder)
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        last = traceback.format_exception_only(error)[-1].strip()
        origin = Path(spec.origin or file).resolve()
        frames = traceback.extract_tb(error.__traceback__)
        lines = [frame.lineno for frame in frames if Path(frame.filename).resolve() == origin]
        if isinstance(error, SyntaxError) and error.lineno and Path(error.filename or "").resolve() == origin:
            lines = [error.lineno]
        where = f"line {lines[-1]}: " if lines else ""
        raise InputError(f"{printable(file)}: {where}{printable(last)}") from None
    finally:
        sys.path.remove(folder)
    return module
