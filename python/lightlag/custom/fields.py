"""The fields of a custom class: their initial values, and their kinds."""

from __future__ import annotations

import dataclasses
from typing import Any

from lightlag.errors import InputError

__all__ = ["default_of", "kind_of"]


def default_of(field: dataclasses.Field[Any]) -> Any:
    """Returns the initial value of a field."""
    return field.default if field.default_factory is dataclasses.MISSING else field.default_factory()


def kind_of(cls: type, field: dataclasses.Field[Any]) -> str:
    """Returns the kind of a field: "number", "integer" or "flag".

    Raises
    ------
    InputError
        If it has another type, or no default.
    """
    said = field.type if isinstance(field.type, str) else getattr(field.type, "__name__", "")
    kind = {"float": "number", "int": "integer", "bool": "flag"}.get(said)
    if kind is None or not isinstance(default_of(field), (bool, int, float)):
        raise InputError(
            f"{cls.__name__}.{field.name}: {said or field.type!r} is not float, int or bool with a default, such as "
            f"{field.name}: float = 0.5; a plain class sets other values by itself"
        )
    return kind
