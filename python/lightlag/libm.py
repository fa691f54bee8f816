"""Mathematical functions with the same bits on every machine, for custom algorithms.

They are the engine's functions (musl's, from the crate ``libm``). The ones of :mod:`math` come from the system, and may
differ in the last bit. Compiled classes call them as machine code.

Examples
--------
>>> from lightlag import libm
>>> libm.cbrt(27.0)
3.0
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

from lightlag import _engine

__all__ = ["atan", "cbrt", "cos", "exp", "log", "log2", "pow", "sin", "tanh"]


def _function(name: str, about: str) -> Callable[..., float]:
    address, count = _engine.libm_addresses()[name]
    call: Any = ctypes.CFUNCTYPE(ctypes.c_double, *[ctypes.c_double] * count)(address)

    def function(*arguments: float) -> float:
        return float(call(*arguments))

    function.__name__ = function.__qualname__ = name
    function.__doc__ = about
    return function


atan = _function("atan", "The angle in radians whose tangent is x.")
cbrt = _function("cbrt", "The cube root of x.")
cos = _function("cos", "The cosine of x, in radians.")
exp = _function("exp", "e to the power of x.")
log = _function("log", "The natural logarithm of x.")
log2 = _function("log2", "The logarithm of x to the base 2.")
pow = _function("pow", "x to the power of y.")
sin = _function("sin", "The sine of x, in radians.")
tanh = _function("tanh", "The hyperbolic tangent of x.")


def __dir__() -> list[str]:
    return sorted(__all__)
