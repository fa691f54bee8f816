"""Lines of a method that raise exceptions, for machine code, which keeps no traceback.

A copy of the method stores the number of a line, negative, in the field ``fault`` of its record before each statement
that may raise. After an exception the field says where it was.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable
from typing import Any

__all__ = ["with_lines"]

_RISKY = (ast.Div, ast.FloorDiv, ast.Mod, ast.Pow)


def with_lines(method: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a copy of a method that keeps its lines; the method itself if it has no source or a closure."""
    if method.__closure__:
        return method
    try:
        source, first = inspect.getsourcelines(method)
        tree = ast.parse(textwrap.dedent("".join(source)))
    except (OSError, TypeError, SyntaxError):
        return method
    function = tree.body[0]
    if not isinstance(function, ast.FunctionDef) or not function.args.args:
        return method
    function.decorator_list = []
    _Keeper(function.args.args[0].arg, first - 1).visit(function)
    ast.increment_lineno(tree, first - 1)
    ast.fix_missing_locations(tree)
    found: dict[str, Any] = {}
    exec(compile(tree, method.__code__.co_filename, "exec"), method.__globals__, found)
    copy: Callable[..., Any] = found[function.name]
    copy.__defaults__ = method.__defaults__
    copy.__qualname__ = method.__qualname__
    return copy


class _Keeper(ast.NodeTransformer):
    """Puts the line in front of each statement that may raise."""

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
    """Whether a statement itself, without those inside it, divides, calls, looks something up or raises."""
    inner = [statement]
    while inner:
        node = inner.pop()
        if isinstance(node, (ast.Call, ast.Subscript, ast.Raise, ast.Assert)):
            return True
        if isinstance(node, (ast.BinOp, ast.AugAssign)) and isinstance(node.op, _RISKY):
            return True
        inner += [one for one in ast.iter_child_nodes(node) if not isinstance(one, ast.stmt)]  # type: ignore[misc]
    return False
