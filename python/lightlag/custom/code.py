"""The digests of the code of classes."""

from __future__ import annotations

import hashlib
import inspect
import sys
import textwrap
import types
from typing import Any

from lightlag.files.input import read_bytes

__all__ = ["code_of", "digest"]


def digest(source: bytes) -> str:
    """Returns the digest of source code: 128 bits in hexadecimal."""
    return hashlib.sha256(source).hexdigest()[:32]


def code_of(cls: type) -> str:
    """Returns the digest of a class: the digest of its file, or without a file of its source and the functions that it
    uses.

    Without sources, as at a Python prompt, it is the digest of the compiled functions.
    """
    file = getattr(sys.modules.get(cls.__module__), "__file__", None)
    if file is not None and cls.__module__ != "__main__":
        return digest(read_bytes(file, only_files=True))
    return digest("\0".join(_parts(cls, set())).encode())


def _parts(thing: Any, seen: set[int]) -> list[str]:
    """Returns the source of a class or a function, and of everything in the same module that its functions refer to."""
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
    """Returns the contents of a compiled function, without its file and its line numbers."""
    constants = tuple(_plain(one) if isinstance(one, types.CodeType) else one for one in code.co_consts)
    return code.co_code, constants, code.co_names, code.co_varnames
