"""Checks of the methods that the engine calls, before a run: each error has the file and the line of the method."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Iterable, Sequence
from typing import Any

from lightlag.errors import InputError
from lightlag.text.terminal import printable

__all__ = ["check_hooks", "place_of"]


ARGUMENTS = {
    "on_start": "start",
    "on_ack": "ack",
    "on_congestion": "event",
    "on_undo": "moment",
    "on_idle": "idle",
    "on_recovered": "moment",
    "on_enqueue": "packet",
    "on_dequeue": "packet",
    "on_loss": "loss",
    "next_message": "sent",
    "next_hop": "packet",
    "on_message": "message",
    "on_timer": "moment",
    "on_broken": "broken",
    "next_hops": "sky",
}
"""Default name of the argument of each method."""


def check_hooks(cls: type, known: Iterable[str]) -> list[str]:
    """Returns the known methods that a class has.

    Parameters
    ----------
    known
        The methods that the engine may call.

    Raises
    ------
    InputError
        If a method cannot be called with one argument, never runs because it is a generator or a coroutine, or looks
        like a misspelt one.
    """
    known = list(known)
    found = [hook for hook in known if getattr(cls, hook, None) is not None]
    for hook in found:
        _check(cls, hook)
    _check_names(cls, known)
    return found


def place_of(thing: Any) -> str:
    """Returns the file and the line of a function, as ``mine.py:12``; empty if Python does not know them."""
    code = getattr(inspect.unwrap(getattr(thing, "__func__", thing)), "__code__", None)
    return "" if code is None else f"{printable(code.co_filename)}:{code.co_firstlineno}"


def _check(cls: type, hook: str) -> None:
    raw = inspect.getattr_static(cls, hook)
    right = f"write def {hook}(self, {ARGUMENTS[hook]})"
    if isinstance(raw, property):
        _fail(cls, hook, raw.fget, f"is a property, which cannot be called; {right}")
    if isinstance(raw, (staticmethod, classmethod)):
        kind = "static method" if isinstance(raw, staticmethod) else "class method"
        _fail(cls, hook, raw.__func__, f"is a {kind} and gets no connection; {right}")
    if not callable(raw):
        _fail(cls, hook, None, f"is {printable(repr(raw)):.40} and not a method; {right}")
    function = inspect.unwrap(raw)
    if inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function):
        _fail(cls, hook, function, f"is async: the engine calls it without awaiting it, so it would never run; {right}")
    if inspect.isgeneratorfunction(function):
        _fail(cls, hook, function, "has a yield: calling it runs nothing; remove the yield")
    try:
        inspect.signature(function).bind(None, None)
    except TypeError:
        given = str(inspect.signature(function))
        _fail(cls, hook, function, f"takes {given}, and the engine gives one argument; {right}")
    except ValueError:
        # Functions of C do not expose their arguments.
        return


def _check_names(cls: type, known: Sequence[str]) -> None:
    """Fails if a method has almost the name of a method that the engine calls."""
    for name, value in vars(cls).items():
        if inspect.isfunction(value) and name not in known and not name.startswith("_"):
            near = difflib.get_close_matches(name, [one for one in known if one not in vars(cls)], 1, cutoff=0.8)
            if near and name.startswith(("on_", "next_")):
                _fail(cls, name, value, f"is not a method that the engine calls; did you mean {near[0]}?")


def _fail(cls: type, hook: str, function: Any, message: str) -> None:
    place = place_of(function)
    raise InputError(f"{place + ': ' if place else ''}{cls.__name__}.{hook}: {message}")
