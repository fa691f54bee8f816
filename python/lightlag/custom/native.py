"""Methods as machine code, by numba.

A method is compiled for the records of the C interface: `self` is the record of a connection, the other argument the
event. The engine calls it through its address, without the interpreter.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from lightlag import _compiled
from lightlag.custom import base
from lightlag.custom.fields import default_of, kind_of
from lightlag.custom.hooks import place_of
from lightlag.custom.jit import numba
from lightlag.custom.lines import with_lines
from lightlag.errors import InputError
from lightlag.text.terminal import meant, printable

CONTROL = {
    **dict.fromkeys(("cwnd", "ssthresh", "pacing_rate", "segment_size", "prior_cwnd", "prior_ssthresh"), "f8"),
    "random": "u8",
    **dict.fromkeys(("fault", "epoch_ns"), "i8"),
    **dict.fromkeys(("epoch_w_max", "epoch_k"), "f8"),
}
"""The fields at the start of the record of a connection, with their types."""
QUEUE = {
    **dict.fromkeys(("packets", "bytes"), "i8"),
    **dict.fromkeys(("limit_packets", "limit_bytes", "rate"), "f8"),
    "random": "u8",
    "fault": "i8",
}
"""The fields at the start of the record of a queue, with their types."""
SOURCE = {"wait_ns": "i8", "size": "i8", "random": "u8", "fault": "i8"}
"""The fields at the start of the record of a traffic source."""
RESPONSE = {"random": "u8", "fault": "i8"}
"""The fields at the start of the record of a sender with a loss response."""
STARTS = ((base.QueueDiscipline, QUEUE), (base.Traffic, SOURCE), (base.LossResponse, RESPONSE))
ANSWERS = {
    **dict.fromkeys(base.QUEUE_HOOKS, "ll.PASS, ll.DROP or ll.MARK"),
    "on_loss": "ll.CONGESTION or ll.CORRUPTION",
}
"""The methods that return a number, with its valid values."""
_DTYPES = {"number": "f8", "integer": "i8", "flag": "i8"}
_RATIONAL = {"growth", "delivery_rate"}
"""The fields of records that are floating-point numbers; the others are integers."""


@dataclass(frozen=True, slots=True)
class Native:
    """The machine code of a class."""

    initial: bytes
    """The record of a new object, before the first call."""
    offsets: dict[str, int]
    """Offset of each field in the record, in bytes."""
    addresses: dict[str, int]
    """Addresses of the compiled functions, by the name of the method."""
    keep: object
    """Object that keeps the machine code in memory."""


def compile_class(cls: type, hooks: Sequence[str], fields: Sequence[dataclasses.Field[Any]]) -> Native:
    """Compiles the methods of a class.

    Raises
    ------
    InputError
        If one cannot be compiled; the message names the method and numba's reason.
    """
    import numpy as np

    nb = numba()
    start = next((start for kind, start in STARTS if issubclass(cls, kind)), CONTROL)
    own = list(start.items())
    own += [(field.name, _DTYPES[kind_of(cls, field)]) for field in fields]
    record: Any = np.dtype(own)
    # The engine fills in the initial values of the algorithm.
    initial = np.zeros(1, record)
    for field in fields:
        initial[field.name] = default_of(field)
    wholes = frozenset(name for name, kind in own if kind == "i8")
    kept = [_hook(nb, np, cls, hook, record, wholes) for hook in hooks]
    names = cls.__name__.lower(), getattr(cls, "name", "") or cls.__name__
    _compiled.remember(names, _file_of(cls, hooks))
    return Native(
        initial.tobytes(),
        {name: int(place) for name, (_, place) in record.fields.items()},
        {hook: int(entry.address) for hook, entry in zip(hooks, kept, strict=True)},
        kept,
    )


def _file_of(cls: type, hooks: Sequence[str]) -> str:
    return str(getattr(cls, hooks[0]).__code__.co_filename) if hooks else ""


def _hook(nb: Any, np: Any, cls: type, hook: str, record: Any, wholes: frozenset[str]) -> Any:
    """Compiles a method to a C function, which takes two addresses."""
    given = np.dtype([(name, "f8" if name in _RATIONAL else "i8") for name in FIELDS[hook]])
    function = getattr(cls, hook)
    # As in Python, a division by zero raises an exception.
    method = nb.njit(error_model="python")(with_lines(function, wholes))
    carray = nb.carray

    def tell(own: Any, what: Any) -> None:
        control = carray(own, 1)[0]
        try:
            method(control, carray(what, 1)[0])
            if control.fault < 0:
                control.fault = 0
        except Exception:
            if control.fault >= 0:
                control.fault = 1

    def ask(own: Any, what: Any) -> int:
        control = carray(own, 1)[0]
        answer = 0
        try:
            answer = method(control, carray(what, 1)[0])
            if control.fault < 0:
                control.fault = 0
        except Exception:
            if control.fault >= 0:
                control.fault = 1
        return answer

    types = nb.types
    pointers = [types.CPointer(nb.from_dtype(one)) for one in (record, given)]
    answers = hook in ANSWERS
    try:
        signature = (types.int64 if answers else types.void)(*pointers)
        entry = nb.cfunc(signature, error_model="numpy")(ask if answers else tell)
    except Exception as error:
        # numba reports some errors by exceptions of its parts, such as a KeyError of a record.
        raise InputError(
            f"{_place(function, error)}: {cls.__name__}.{hook}: numba cannot compile it: "
            f"{_reason(hook, function, error)}; change the method, or remove @compiled"
        ) from error
    if answers and not isinstance(found := method.nopython_signatures[0].return_type, (types.Integer, types.Boolean)):
        raise InputError(
            f"{place_of(function)}: {cls.__name__}.{hook}: returns {found}; it must return {ANSWERS[hook]}"
        )
    return entry


def _place(function: Any, error: Exception) -> str:
    """Returns the file and line named by a numba error, or the file and line of the method."""
    file = function.__code__.co_filename
    lines = re.findall(rf'File "{re.escape(file)}", line (\d+)', str(error))
    if not lines and isinstance(error, KeyError):
        lines = _lines_of(function, rf"\.{re.escape(_field(error))}\b")
    if not lines and (unknown := re.search(r"name '(\w+)' is not defined", str(error))):
        lines = _lines_of(function, rf"\b{unknown[1]}\b")
    return f"{printable(file)}:{lines[-1]}" if lines else place_of(function)


def _field(error: KeyError) -> str:
    return str(error.args[0]) if error.args else ""


def _lines_of(function: Any, pattern: str) -> list[str]:
    """Returns the first line of a method that matches a pattern."""
    try:
        source, first = inspect.getsourcelines(function)
    except OSError:
        return []
    named = [first + at for at, line in enumerate(source) if re.search(pattern, line)]
    return [str(line) for line in named[:1]]


def _reason(hook: str, function: Any, error: Exception) -> str:
    if isinstance(error, KeyError):
        field, own = _field(error), next(iter(inspect.signature(function).parameters), "self")
        if _lines_of(function, rf"\b{own}\.{re.escape(field)}\b"):
            return f"it has no field {field}; declare it, as {field}: float = lightlag.state(0.0)"
        return f"the argument has no {field}; {meant(field, FIELDS[hook])}there are {', '.join(FIELDS[hook])}"
    if "Cannot cast" in str(error):
        return "a value has the wrong type: fields of a compiled class hold numbers; assign a number"
    return printable(next((line.strip() for line in str(error).splitlines() if _says_why(line)), type(error).__name__))


def _says_why(line: str) -> bool:
    empty = ("Failed in", "During", "File ", "<source", "- Resol", "Internal error")
    return bool(line.strip()) and not line.strip().startswith(empty)


_ACK = """now_ns newly_acked newly_delivered newly_lost newly_marked growth may_grow duplicate ece cwnd_limited phase
rtt_ns srtt_ns min_rtt_ns one_way_ns inflight prior_inflight snd_una snd_nxt delivery_rate delivered prior_delivered
rate_interval_ns rate_lost rate_inflight app_limited""".split()
FIELDS = {
    "on_start": "now_ns segment_size initial_window rtt_ns pipe ecn timestamps abe".split(),
    "on_ack": _ACK,
    "on_congestion": "now_ns cause flight srtt_ns min_rtt_ns".split(),
    "on_loss": "now_ns cause sent_ns inflight cwnd rtt_ns srtt_ns min_rtt_ns".split(),
    "on_undo": ["now_ns"],
    "on_idle": ["now_ns", "window", "threshold"],
    "on_recovered": ["now_ns"],
    "next_message": ["now_ns", "messages", "bytes"],
    **dict.fromkeys(base.QUEUE_HOOKS, "now_ns size flow ecn waited_ns carries_payload full".split()),
}
"""The records of `lightlag-plugin`, by the methods that receive them."""
