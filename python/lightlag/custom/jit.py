"""Functions and classes as machine code, by numba: code that may be compiled, and functions that it may call."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, TypeVar, overload

from lightlag import _engine, libm
from lightlag.custom import checked as wholes
from lightlag.custom.base import COMPILED, Declared, uniform
from lightlag.custom.lines import checked
from lightlag.errors import InputError

__all__ = ["compiled", "numba"]

T = TypeVar("T")


@overload
def compiled(thing: type[T]) -> type[T]: ...
@overload
def compiled(thing: Callable[..., Any]) -> Callable[..., Any]: ...
def compiled(thing: Any) -> Any:
    """Compiles the methods of a custom class to machine code when it is first run.

    Also compiles functions that they call.

    The class declares the types of all its fields: parameters (:func:`parameter`, or a plain default) and state
    (:func:`state`) are ``float``, ``int`` or ``bool``. Methods may use what numba compiles, functions with this
    decorator, and :mod:`lightlag.libm`. Needs ``lightlag[numba]``.

    Raises
    ------
    InputError
        If numba is not installed, or for anything but a class or a function.
    """
    if isinstance(thing, type) and issubclass(thing, Declared):
        setattr(thing, COMPILED, True)
        return thing
    if isinstance(thing, type) or not callable(thing):
        raise InputError(f"compiled: {thing!r:.60} is neither a class nor a function")
    # As in Python, a division by zero raises an exception.
    return numba().njit(error_model="python")(checked(thing))


@cache
def numba() -> Any:
    """Returns the module numba, with the functions of :mod:`lightlag.libm` registered.

    Raises
    ------
    InputError
        If it is not installed.
    """
    try:
        import numba
    except ImportError:
        raise InputError(
            "compiled: needs numba, which is not installed; pip install 'lightlag[numba]', or remove @compiled"
        ) from None
    _teach(numba)
    return numba


def _teach(nb: Any) -> None:
    """Registers :mod:`lightlag.libm` and random numbers for compiled code."""
    import ctypes

    import numpy as np
    from numba.extending import overload

    wholes.teach(nb)
    for name, (address, count) in _engine.libm_addresses().items():
        function = ctypes.CFUNCTYPE(ctypes.c_double, *[ctypes.c_double] * count)(address)
        overload(getattr(libm, name))(_one(function) if count == 1 else _two(function))

    golden, first, second = (np.uint64(word) for word in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB))
    thirty, twenty_seven, thirty_one, eleven = (np.uint64(bits) for bits in (30, 27, 31, 11))

    def of(algorithm: Any) -> Any:
        def drawn(algorithm: Any) -> float:
            mixed = algorithm.random + golden
            algorithm.random = mixed
            mixed = (mixed ^ (mixed >> thirty)) * first
            mixed = (mixed ^ (mixed >> twenty_seven)) * second
            return float((mixed ^ (mixed >> thirty_one)) >> eleven) / 9007199254740992.0

        return drawn

    overload(uniform)(of)


def _one(function: Any) -> Any:
    return lambda x: lambda x: function(x)


def _two(function: Any) -> Any:
    return lambda x, y: lambda x, y: function(x, y)
