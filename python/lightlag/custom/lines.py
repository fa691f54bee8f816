"""Copies of methods and functions for machine code: integers are checked, and methods record their lines.

Machine code has no traceback. A copy of a method stores the negated line number in the field ``fault`` of its record
before each statement that may raise. After an exception the field holds the line.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable
from types import CodeType
from typing import Any

from lightlag.custom.checked import STAND_INS, Checked

__all__ = ["checked", "with_lines"]


def with_lines(method: Callable[..., Any], wholes: frozenset[str]) -> Callable[..., Any]:
    """Returns a checked copy of a method that records its lines; the method itself if it has a closure or no source.

    Parameters
    ----------
    wholes
        The fields of the record that hold whole numbers.
    """

    def change(function: ast.FunctionDef, before: int) -> None:
        record = function.args.args[0].arg if function.args.args else ""
        Checked(method.__globals__, record, wholes).visit(function)
        if record:
            _Keeper(record, before).visit(function)

    return _changed(method, change)


def checked(function: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a checked copy of a function; the function itself if it has no source, or has a closure."""
    return _changed(function, lambda tree, _: Checked(function.__globals__, "").visit(tree))


def _changed(method: Callable[..., Any], change: Callable[[ast.FunctionDef, int], object]) -> Callable[..., Any]:
    if method.__closure__:
        return method
    try:
        source, first = inspect.getsourcelines(method)
        tree = ast.parse(textwrap.dedent("".join(source)))
        module = compile("".join(inspect.findsource(method)[0]), "", "exec")
    except (OSError, TypeError, SyntaxError):
        return method
    function = tree.body[0]
    if not isinstance(function, ast.FunctionDef):
        return method
    function.decorator_list = []
    if not _holds(module, method.__code__):
        # The file was written since it was loaded.
        return method
    change(function, first - 1)
    ast.increment_lineno(tree, first - 1)
    ast.fix_missing_locations(tree)
    # In the namespace of its module, so that it finds functions that are defined after it.
    found: dict[str, Any] = {}
    method.__globals__.update(STAND_INS)
    exec(compile(tree, method.__code__.co_filename, "exec"), method.__globals__, found)
    copy: Callable[..., Any] = found[function.name]
    copy.__defaults__ = method.__defaults__
    copy.__qualname__ = method.__qualname__
    return copy


def _holds(module: CodeType, code: CodeType) -> bool:
    """Returns true if the compiled module has this function, with the same code at the same line.

    The entire module is compiled, because calls of imported names compile to different instructions.
    """

    def facts(one: CodeType) -> tuple[Any, ...]:
        constants = [constant for constant in one.co_consts if not isinstance(constant, CodeType)]
        return one.co_firstlineno, one.co_qualname, one.co_code, one.co_names, one.co_varnames, constants

    inner = [module]
    while inner:
        one = inner.pop()
        if facts(one) == facts(code):
            return True
        inner += [constant for constant in one.co_consts if isinstance(constant, CodeType)]
    return False


class _Keeper(ast.NodeTransformer):
    """Inserts the line number before each statement that may raise."""

    def __init__(self, record: str, before: int) -> None:
        self._record = record
        self._before = before

    def visit(self, node: ast.AST) -> Any:
        self.generic_visit(node)
        for name in ("body", "orelse", "finalbody"):
            statements = getattr(node, name, None)
            if isinstance(statements, list):
                setattr(node, name, [one for statement in statements for one in self._kept(statement)])
        return node

    def _kept(self, statement: ast.stmt) -> list[ast.stmt]:
        if not _may_raise(statement):
            return [statement]
        target = ast.Attribute(ast.Name(self._record, ast.Load()), "fault", ast.Store())
        keep = ast.Assign([target], ast.Constant(-(statement.lineno + self._before)))
        return [ast.copy_location(keep, statement), statement]


def _may_raise(statement: ast.stmt) -> bool:
    """Returns true if a statement itself, without nested statements, divides, calls, subscripts or raises."""
    inner = [statement]
    while inner:
        node = inner.pop()
        if isinstance(node, (ast.Call, ast.Subscript, ast.Raise, ast.Assert)):
            return True
        if isinstance(node, (ast.BinOp, ast.AugAssign)) and isinstance(node.op, (ast.Div, ast.Mod)):
            return True
        inner += [one for one in ast.iter_child_nodes(node) if not isinstance(one, ast.stmt)]  # type: ignore[misc]
    return False
