"""Classes in files, and the digest of their code."""

from __future__ import annotations

import hashlib
import importlib.util
import inspect
import sys
import textwrap
import traceback
import types
from pathlib import Path
from typing import Any

from lightlag import _engine
from lightlag.errors import InputError
from lightlag.files.input import read_bytes
from lightlag.text.terminal import printable


def load(place: str) -> _engine.Algorithm:
    """The algorithm of a class in a file, ``FILE:CLASS``.

    Raises
    ------
    InputError
        If there is no such file or class, or if the file cannot be run.
    """
    from lightlag.own.algorithm import algorithm

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


def digest(source: bytes) -> str:
    """The digest of a code: 128 bits."""
    return hashlib.sha256(source).hexdigest()[:32]


def code_of(cls: type) -> str:
    """The digest of a class: of its file, or of its source and of the functions that it names where it has no file.

    Without sources, as at a prompt of Python, it is that of the compiled functions.
    """
    file = getattr(sys.modules.get(cls.__module__), "__file__", None)
    if file is not None and cls.__module__ != "__main__":
        return digest(read_bytes(file, only_files=True))
    return digest("\0".join(_parts(cls, set())).encode())


def _parts(thing: Any, seen: set[int]) -> list[str]:
    """The sources of a class or a function, and of those beside it that its functions name."""
    if id(thing) in seen:
        return []
    seen.add(id(thing))
    functions = (
        [value for value in vars(thing).values() if inspect.isfunction(value)] if isinstance(thing, type) else []
    )
    thing = getattr(thing, "py_func", thing)
    functions = functions or [thing] if not isinstance(thing, type) else functions
    try:
        found = [textwrap.dedent(inspect.getsource(thing))]
    except (OSError, TypeError):
        found = [repr(_plain(function.__code__)) for function in functions]
    for function in functions:
        for name in function.__code__.co_names:
            other = function.__globals__.get(name)
            beside = getattr(other, "__module__", None) == thing.__module__
            if beside and callable(other):
                found += _parts(other, seen)
            elif isinstance(other, (int, float, str, tuple)):
                found.append(f"{name} = {other!r}")
    return found


def _plain(code: types.CodeType) -> tuple[Any, ...]:
    """What a compiled function does, without its file and its lines."""
    constants = tuple(_plain(one) if isinstance(one, types.CodeType) else one for one in code.co_consts)
    return code.co_code, constants, code.co_names, code.co_varnames


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
