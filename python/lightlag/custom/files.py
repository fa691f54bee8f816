"""Loads custom classes from files."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import sys
import traceback
import types
from pathlib import Path

from lightlag import _engine
from lightlag.custom.algorithm import algorithm
from lightlag.custom.code import digest
from lightlag.errors import InputError
from lightlag.files.input import read_bytes
from lightlag.text.terminal import printable


def load(place: str) -> _engine.Algorithm:
    """Loads the algorithm that a class in a file defines, written as ``FILE:CLASS``.

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
        # The processes of a study read the file again, which a pipe does not allow.
        source = read_bytes(file, only_files=True)
    except OSError as error:
        raise InputError(f"{printable(path)}: cannot be read: {error.strerror or error}") from None
    code = digest(source)
    module = _module(file, source, code)
    cls = getattr(module, name, None)
    if cls is None:
        raise InputError(f"{printable(path)}: has no class {name}; write class {name}(lightlag.CongestionControl), say")
    return algorithm(cls, file=place, code=code)


class _Loader(importlib.machinery.SourceFileLoader):
    """Compiles the given source.

    Python would use the bytecode of an earlier source if the file has the same size and was changed in the same second.
    """

    def __init__(self, name: str, file: Path, source: bytes) -> None:
        super().__init__(name, str(file))
        self._source = source

    def get_code(self, _name: str) -> types.CodeType:
        return self.source_to_code(self._source, self.path)


def _module(file: Path, source: bytes, code: str) -> types.ModuleType:
    """Returns the module of a file, which is run once per content. It can import modules from its directory."""
    name = f"lightlag_own_{digest(str(file.resolve()).encode())[:8]}_{code[:16]}"
    if name in sys.modules:
        return sys.modules[name]
    if file.suffix != ".py":
        raise InputError(f"{printable(file)}: is not a Python file; name a file that ends with .py")
    loader = _Loader(name, file, source)
    spec = importlib.machinery.ModuleSpec(name, loader, origin=str(file))
    spec.has_location = True
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    directory = str(file.resolve().parent)
    sys.path.append(directory)
    try:
        loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        last = traceback.format_exception_only(error)[-1].strip()
        origin = file.resolve()
        frames = traceback.extract_tb(error.__traceback__)
        lines = [frame.lineno for frame in frames if Path(frame.filename).resolve() == origin]
        if isinstance(error, SyntaxError) and error.lineno and Path(error.filename or "").resolve() == origin:
            lines = [error.lineno]
        where = f"line {lines[-1]}: " if lines else ""
        raise InputError(f"{printable(file)}: {where}{printable(last)}") from None
    finally:
        sys.path.remove(directory)
    return module
