"""Turns a class into an algorithm that the engine can name and run."""

from __future__ import annotations

import dataclasses
import inspect
import weakref
from collections.abc import Callable, Sequence
from typing import Any

from lightlag import _engine
from lightlag._renamed import renamed
from lightlag.custom.base import (
    COMPILED,
    HOOKS,
    QUEUE_HOOKS,
    REQUIRED,
    RESPONSE_HOOKS,
    ROUTER_HOOKS,
    TRAFFIC_HOOKS,
    CongestionControl,
    LossResponse,
    QueueDiscipline,
    Router,
    SatelliteRouter,
    Traffic,
)
from lightlag.custom.code import code_of
from lightlag.custom.fields import default_of, kind_of
from lightlag.custom.hooks import ARGUMENTS, check_hooks
from lightlag.errors import InputError
from lightlag.text.terminal import printable

OwnClass = (
    type[CongestionControl]
    | type[LossResponse]
    | type[QueueDiscipline]
    | type[Traffic]
    | type[Router]
    | type[SatelliteRouter]
)
BASES = (CongestionControl, QueueDiscipline, Traffic, Router, SatelliteRouter, LossResponse)
"""Base classes of custom algorithms."""
KEYS = dict(zip(BASES, ("algorithm", "discipline", "kind", "protocol", "protocol", "response"), strict=True))
"""Key that names the algorithm in the table of a scenario, for each base class."""
ENGINE = (
    _engine.CongestionControl,
    _engine.LossResponse,
    _engine.QueueDiscipline,
    _engine.Traffic,
    _engine.Router,
    _engine.SatelliteRouter,
)
"""The corresponding classes of the engine."""
Given = tuple[str, str, float, float, float, str, str]
"""A parameter as passed to the engine: name, kind, default, minimum, maximum, unit, meaning."""

_made: weakref.WeakKeyDictionary[type, dict[tuple[str, str | None, str], _engine.Algorithm]] = (
    weakref.WeakKeyDictionary()
)


def is_custom(value: object) -> bool:
    """Returns true if a value is a custom class, or an object of one."""
    return issubclass(value if isinstance(value, type) else type(value), ENGINE)


def choice(value: Any, name: str | None = None) -> str | dict[str, Any]:
    """Returns the value by which a scenario refers to a custom class, or to an object of one with its parameters.

    It also registers the class, under its own name or the given one.
    """
    cls = value if isinstance(value, type) else type(value)
    name = register(cls, name)
    fields = [] if isinstance(value, type) else parameters(cls)
    values = ((field, getattr(value, field.name)) for field in fields)
    changed = {field.name: given for field, given in values if given != field.default}
    key = next(key for base, key in KEYS.items() if issubclass(cls, base))
    is_word = issubclass(cls, (CongestionControl, LossResponse, Router)) and not changed
    return name if is_word else {key: name} | changed


def named(name: str, value: Any) -> Any:
    """Returns a custom class, or an object of one, registered by this name; other values are returned unchanged."""
    if not is_custom(value):
        return value
    return choice(value, name)


def register(cls: Any, name: str | None = None) -> str:
    """Registers a class, so that scenarios can refer to it by its name, and returns the name.

    Raises
    ------
    InputError
        If it is not an algorithm, or if a built-in algorithm has this name.
    """
    made = algorithm(cls, name=name)
    try:
        made.register()
    except ValueError as error:
        raise InputError(f"{cls.__name__}: {error}") from None
    return made.name


def algorithm(
    cls: Any, *, name: str | None = None, file: str | None = None, code: str | None = None
) -> _engine.Algorithm:
    """Returns the algorithm of a class.

    Parameters
    ----------
    name
        Name in results, instead of the class's own.
    file
        ``FILE:CLASS``, if a scenario refers to the class by its file.
    code
        The digest of the code, if known.
    """
    if not (isinstance(cls, type) and issubclass(cls, BASES)) or cls in BASES:
        bases = ", ".join(f"lightlag.{base.__name__}" for base in BASES)
        shown = cls.__qualname__ if isinstance(cls, type) else repr(cls)
        raise InputError(f"{printable(shown):.60} is not a subclass of one of {bases}")
    name = name or cls.name or cls.__name__.lower()
    code = code or code_of(cls)
    known = _made.setdefault(cls, {})
    if (key := (name, file, code)) not in known:
        known[key] = _make(cls, name, file, code)
    return known[key]


def parameters(cls: OwnClass) -> list[dataclasses.Field[Any]]:
    """Returns the fields of a class that a scenario can set.

    Raises
    ------
    InputError
        If a field has no type, or has the name of an attribute that the engine sets.
    """
    fields = [field for field in fields_of(cls) if field.init]
    declared = {field.name for field in fields_of(cls)}
    for name, value in ((name, value) for base in cls.__mro__ for name, value in vars(base).items()):
        if isinstance(value, dataclasses.Field) and name not in declared:
            raise InputError(f"{cls.__name__}.{name}: has no type; write {name}: float = lightlag.parameter(...)")
    for field in fields:
        if any(inspect.isdatadescriptor(vars(base).get(field.name)) for base in cls.__mro__):
            raise InputError(f"{cls.__name__}.{field.name}: is set by the engine; give the parameter another name")
    return fields


def fields_of(cls: OwnClass) -> tuple[dataclasses.Field[Any], ...]:
    """Returns the parameters and the state that a class declares."""
    return dataclasses.fields(cls) if dataclasses.is_dataclass(cls) else ()


def _make(cls: OwnClass, name: str, file: str | None, code: str) -> _engine.Algorithm:
    if not name.isascii() or not name.isprintable() or " " in name or not name:
        raise InputError(
            f"{cls.__name__}: name: {printable(name)!r} is not a valid name; use letters, digits and signs"
        )
    if issubclass(cls, QueueDiscipline):
        return _discipline(cls, name, file, code)
    if issubclass(cls, Traffic):
        return _traffic(cls, name, file, code)
    if issubclass(cls, LossResponse):
        return _response(cls, name, file, code)
    if issubclass(cls, Router):
        return _router(cls, name, file, code)
    if issubclass(cls, SatelliteRouter):
        return _sky_router(cls, name, file, code)
    hooks = check_hooks(cls, HOOKS)
    for hook in REQUIRED:
        if hook not in hooks:
            right = f"{hook}(self, {'ack' if hook == 'on_ack' else 'event'})"
            raise InputError(f"{cls.__name__}: has no method {right}; define it")
    given = [_given(cls, field) for field in parameters(cls)]
    if hasattr(cls, "own_recovery"):
        raise InputError(f"{cls.__name__}: {renamed('CongestionControl.own_recovery')}")
    needs = 1 * bool(cls.uses_rate) + 2 * bool(cls.paces) + 4 * bool(cls.controls_recovery)
    if getattr(cls, COMPILED, False):
        return _compiled(_engine.compiled_algorithm, cls, hooks, given, (name, file, code), needs)
    return _engine.plain_algorithm(name, file, code, cls, given, needs, hooks)


def _compiled(
    make: Callable[..., _engine.Algorithm],
    cls: OwnClass,
    hooks: Sequence[str],
    given: list[Given],
    named: tuple[str, str | None, str],
    *needs: int,
) -> _engine.Algorithm:
    """Compiles a class to machine code; `make` is the engine's function that creates algorithms of its kind."""
    from lightlag.custom.native import compile_class

    native = compile_class(cls, hooks, fields_of(cls))
    offsets = [native.offsets[parameter[0]] for parameter in given]
    return make(*named, native.initial, given, offsets, *needs, native.addresses, native.keep)


def _discipline(cls: type[QueueDiscipline], name: str, file: str | None, code: str) -> _engine.Algorithm:
    hooks = check_hooks(cls, QUEUE_HOOKS)
    if not hooks:
        raise InputError(
            f"{cls.__name__}: has neither a method on_enqueue(self, packet) nor on_dequeue(self, packet); define one"
        )
    given = _beside(cls, "queue", ("limit", "discipline"))
    if getattr(cls, COMPILED, False):
        return _compiled(_engine.compiled_discipline, cls, hooks, given, (name, file, code))
    return _engine.plain_discipline(name, file, code, cls, given, hooks)


def _response(cls: type[LossResponse], name: str, file: str | None, code: str) -> _engine.Algorithm:
    hooks = check_hooks(cls, RESPONSE_HOOKS)
    if "on_loss" not in hooks:
        raise InputError(f"{cls.__name__}: has no method on_loss(self, loss); define it")
    given = _beside(cls, "loss response", ("response",))
    if getattr(cls, COMPILED, False):
        return _compiled(_engine.compiled_response, cls, hooks, given, (name, file, code))
    return _engine.plain_response(name, file, code, cls, given, hooks)


def _traffic(cls: type[Traffic], name: str, file: str | None, code: str) -> _engine.Algorithm:
    if not check_hooks(cls, TRAFFIC_HOOKS):
        raise InputError(f"{cls.__name__}: has no method next_message(self, sent); define it")
    given = _beside(cls, "traffic", ("kind", "stop"))
    if getattr(cls, COMPILED, False):
        return _compiled(_engine.compiled_traffic, cls, TRAFFIC_HOOKS, given, (name, file, code))
    return _engine.plain_traffic(name, file, code, cls, given)


def _router(cls: type[Router], name: str, file: str | None, code: str) -> _engine.Algorithm:
    hooks = check_hooks(cls, ROUTER_HOOKS)
    if "next_hop" not in hooks:
        raise InputError(f"{cls.__name__}: has no method next_hop(self, packet); define it")
    if getattr(cls, COMPILED, False):
        raise InputError(f"{cls.__name__}: a router requests messages and positions; remove @compiled")
    return _engine.plain_router(name, file, code, cls, _beside(cls, "router", ("protocol",)), hooks)


def _sky_router(cls: type[SatelliteRouter], name: str, file: str | None, code: str) -> _engine.Algorithm:
    if not check_hooks(cls, ("next_hops",)):
        raise InputError(f"{cls.__name__}: has no method next_hops(self, {ARGUMENTS['next_hops']}); define it")
    if getattr(cls, COMPILED, False):
        raise InputError(f"{cls.__name__}: a router of constellations gets arrays; remove @compiled")
    return _engine.plain_sky_router(name, file, code, cls, _beside(cls, "router", ("protocol",)))


def _beside(cls: OwnClass, what: str, taken: tuple[str, ...]) -> list[Given]:
    """Returns the parameters of a class; none may have the name of another key in the table that holds them."""
    given = [_given(cls, field) for field in parameters(cls)]
    for key in (parameter[0] for parameter in given):
        if key in (*taken, "plugin", "python", "code"):
            raise InputError(f"{cls.__name__}.{key}: is a key of each {what}; give the parameter another name")
    return given


def _given(cls: type, field: dataclasses.Field[Any]) -> Given:
    kind = kind_of(cls, field)
    about = field.metadata
    least, most = float(about.get("min", "-inf")), float(about.get("max", "inf"))
    if kind == "flag":
        least, most = 0.0, 1.0
    default = float(default_of(field))
    if kind == "integer" and not default.is_integer():
        raise InputError(f"{cls.__name__}.{field.name}: its default {default:g} is not an integer, as its type is")
    if not least <= default <= most:
        raise InputError(f"{cls.__name__}.{field.name}: its default {default:g} is not from {least:g} to {most:g}")
    return field.name, kind, default, least, most, about.get("unit", ""), about.get("meaning", "")
