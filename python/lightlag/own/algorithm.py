"""From a class to an algorithm that the engine can name and run."""

from __future__ import annotations

import dataclasses
import inspect
import weakref
from typing import Any

from lightlag import _engine
from lightlag.errors import InputError
from lightlag.own.base import (
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
    SkyRouter,
    Traffic,
)
from lightlag.own.code import code_of
from lightlag.own.fields import default_of, kind_of
from lightlag.own.hooks import check_hooks
from lightlag.text.terminal import printable

OwnClass = (
    type[CongestionControl]
    | type[LossResponse]
    | type[QueueDiscipline]
    | type[Traffic]
    | type[Router]
    | type[SkyRouter]
)
BASES = (CongestionControl, QueueDiscipline, Traffic, Router, SkyRouter, LossResponse)
"""What classes of one's own inherit."""
KEYS = dict(zip(BASES, ("algorithm", "discipline", "kind", "protocol", "protocol", "response"), strict=True))
"""The key of their name in a scenario."""
ENGINE = (
    _engine.CongestionControl,
    _engine.LossResponse,
    _engine.QueueDiscipline,
    _engine.Traffic,
    _engine.Router,
    _engine.SkyRouter,
)
"""The same of the engine."""
Given = tuple[str, str, float, float, float, str, str]
"""A parameter as the engine takes it: name, kind, default, least, most, unit, meaning."""

_made: weakref.WeakKeyDictionary[type, dict[tuple[str, str | None, str], _engine.Algorithm]] = (
    weakref.WeakKeyDictionary()
)


def is_own(value: object) -> bool:
    """Whether a value is a class of one's own, or an object of one."""
    return issubclass(value if isinstance(value, type) else type(value), ENGINE)


def choice(value: Any, name: str | None = None) -> str | dict[str, Any]:
    """A class of one's own, or an object of one with its parameters, as a scenario names it.

    The class is known from then on, by its name or by another one.
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
    """A class of one's own, or an object of one, known by this name; other values stay as they are."""
    if not is_own(value):
        return value
    return choice(value, name)


def register(cls: Any, name: str | None = None) -> str:
    """Makes a class known to scenarios by its name, and returns that.

    Raises
    ------
    InputError
        If it is no algorithm, or if its name is taken by one of lightlag.
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
    """The algorithm of a class.

    Parameters
    ----------
    name
        Its name in results, in place of its own.
    file
        ``FILE:CLASS``, if a scenario names it by its file.
    code
        The digest of its code, if it is known.
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
    """The fields of a class that a scenario can set.

    Raises
    ------
    InputError
        If one takes the place of an attribute that the engine sets, or has no type.
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
    """The parameters and the state that a class declares."""
    return dataclasses.fields(cls) if dataclasses.is_dataclass(cls) else ()


def _make(cls: OwnClass, name: str, file: str | None, code: str) -> _engine.Algorithm:
    if not name.isascii() or not name.isprintable() or " " in name or not name:
        raise InputError(f"{cls.__name__}: name: {printable(name)!r} is no name; take letters, digits and signs")
    if issubclass(cls, QueueDiscipline):
        return _discipline(cls, name, file, code)
    if issubclass(cls, Traffic):
        return _traffic(cls, name, file, code)
    if issubclass(cls, LossResponse):
        return _response(cls, name, file, code)
    if issubclass(cls, Router):
        return _router(cls, name, file, code)
    if issubclass(cls, SkyRouter):
        return _sky_router(cls, name, file, code)
    hooks = check_hooks(cls, HOOKS)
    for hook in REQUIRED:
        if hook not in hooks:
            right = f"{hook}(self, {'ack' if hook == 'on_ack' else 'event'})"
            raise InputError(f"{cls.__name__}: has no method {right}; define it")
    given = [_given(cls, field) for field in parameters(cls)]
    needs = 1 * bool(cls.uses_rate) + 2 * bool(cls.paces) + 4 * bool(cls.own_recovery)
    if getattr(cls, COMPILED, False):
        from lightlag.own.native import compile_class

        native = compile_class(cls, hooks, fields_of(cls))
        offsets = [native.offsets[parameter[0]] for parameter in given]
        return _engine.compiled_algorithm(
            name, file, code, native.initial, given, offsets, needs, native.addresses, native.keep
        )
    return _engine.plain_algorithm(name, file, code, cls, given, needs, hooks)


def _discipline(cls: type[QueueDiscipline], name: str, file: str | None, code: str) -> _engine.Algorithm:
    hooks = check_hooks(cls, QUEUE_HOOKS)
    if not hooks:
        raise InputError(
            f"{cls.__name__}: has neither a method on_enqueue(self, packet) nor on_dequeue(self, packet); define one"
        )
    given = _beside(cls, "queue", ("limit", "discipline"))
    if getattr(cls, COMPILED, False):
        from lightlag.own.native import compile_class

        native = compile_class(cls, hooks, fields_of(cls))
        offsets = [native.offsets[parameter[0]] for parameter in given]
        return _engine.compiled_discipline(
            name, file, code, native.initial, given, offsets, native.addresses, native.keep
        )
    return _engine.plain_discipline(name, file, code, cls, given, hooks)


def _response(cls: type[LossResponse], name: str, file: str | None, code: str) -> _engine.Algorithm:
    hooks = check_hooks(cls, RESPONSE_HOOKS)
    if "on_loss" not in hooks:
        raise InputError(f"{cls.__name__}: has no method on_loss(self, loss); define it")
    given = _beside(cls, "loss response", ("response",))
    if getattr(cls, COMPILED, False):
        from lightlag.own.native import compile_class

        native = compile_class(cls, hooks, fields_of(cls))
        offsets = [native.offsets[parameter[0]] for parameter in given]
        return _engine.compiled_response(
            name, file, code, native.initial, given, offsets, native.addresses, native.keep
        )
    return _engine.plain_response(name, file, code, cls, given, hooks)


def _traffic(cls: type[Traffic], name: str, file: str | None, code: str) -> _engine.Algorithm:
    if not check_hooks(cls, TRAFFIC_HOOKS):
        raise InputError(f"{cls.__name__}: has no method next_message(self, sent); define it")
    given = _beside(cls, "traffic", ("kind", "stop"))
    if getattr(cls, COMPILED, False):
        from lightlag.own.native import compile_class

        native = compile_class(cls, TRAFFIC_HOOKS, fields_of(cls))
        offsets = [native.offsets[parameter[0]] for parameter in given]
        return _engine.compiled_traffic(name, file, code, native.initial, given, offsets, native.addresses, native.keep)
    return _engine.plain_traffic(name, file, code, cls, given)


def _router(cls: type[Router], name: str, file: str | None, code: str) -> _engine.Algorithm:
    hooks = check_hooks(cls, ROUTER_HOOKS)
    if "next_hop" not in hooks:
        raise InputError(f"{cls.__name__}: has no method next_hop(self, packet); define it")
    if getattr(cls, COMPILED, False):
        raise InputError(f"{cls.__name__}: a router asks for messages and positions; leave @compiled out")
    return _engine.plain_router(name, file, code, cls, _beside(cls, "router", ("protocol",)), hooks)


def _sky_router(cls: type[SkyRouter], name: str, file: str | None, code: str) -> _engine.Algorithm:
    if not check_hooks(cls, ("next_hops",)):
        raise InputError(f"{cls.__name__}: has no method next_hops(self, sky); define it")
    if getattr(cls, COMPILED, False):
        raise InputError(f"{cls.__name__}: a router of constellations gets arrays; leave @compiled out")
    return _engine.plain_sky_router(name, file, code, cls, _beside(cls, "router", ("protocol",)))


def _beside(cls: OwnClass, what: str, taken: tuple[str, ...]) -> list[Given]:
    """The parameters of a class, none of which may have the name of a key that stands beside them."""
    given = [_given(cls, field) for field in parameters(cls)]
    for key in (parameter[0] for parameter in given):
        if key in (*taken, "plugin", "python", "code"):
            raise InputError(f"{cls.__name__}.{key}: is a key of each {what}; give the parameter another name")
    return given


def _given(cls: type, field: dataclasses.Field[Any]) -> Given:
    kind = kind_of(cls, field)
    about = field.metadata
    least, most = float(about.get("least", "-inf")), float(about.get("most", "inf"))
    if kind == "flag":
        least, most = 0.0, 1.0
    default = float(default_of(field))
    if kind == "whole" and not default.is_integer():
        raise InputError(f"{cls.__name__}.{field.name}: its default {default:g} is not a whole number, as its type is")
    if not least <= default <= most:
        raise InputError(f"{cls.__name__}.{field.name}: its default {default:g} is not from {least:g} to {most:g}")
    return field.name, kind, default, least, most, about.get("unit", ""), about.get("meaning", "")
